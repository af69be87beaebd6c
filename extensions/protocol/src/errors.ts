/**
 * What Python sent is not what this front end understands.
 */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}
