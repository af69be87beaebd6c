/**
 * The server did not answer, or refused.
 */
export class RequestError extends Error {
  override readonly name = 'RequestError';

  /**
   * @param status - Of HTTP; null: no answer came.
   * @param message - The server's own words, or empty.
   */
  constructor(
    readonly status: number | null,
    message: string
  ) {
    super(message);
  }
}
