import type { Texts } from '../src/texts.js';
import type { IRow } from '@smtc-lab/protocol';

/**
 * Texts in English.
 */
export const TEXTS: Texts = {
  __: (text, ...values) => filled(text, values),
  _n: (one, many, count, ...values) =>
    filled(count === 1 ? one : many, [count, ...(values as unknown[])])
};

function filled(text: string, values: readonly unknown[]): string {
  return text.replace(/%(\d)/g, (_, digit: string) =>
    String(values[Number(digit) - 1])
  );
}

/**
 * Make a row; all but what is given is as in a run that goes on.
 */
export function row(given: Partial<IRow> = {}): IRow {
  return {
    name: 'run-1',
    kind: 'run',
    state: 'InProgress',
    secondary: '',
    reason: '',
    startedS: 1000,
    endedS: null,
    cluster: 'ml.p4d.24xlarge ×1',
    entryPoint: 'train.py',
    usdPerHour: 1.5,
    isBilled: null,
    usdSoFar: 0.25,
    steps: 50,
    maxSteps: 200,
    stepTimeS: 0.12,
    evidence: 'measured',
    newestRun: null,
    study: null,
    launch: '',
    round: null,
    madeBy: '',
    ...given
  };
}

/**
 * The same row as the server sends it.
 */
export function wire(given: Partial<IRow> = {}): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row(given)).map(([name, value]: [string, unknown]) => [
      name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`),
      value
    ])
  );
}

/**
 * A WebSocket without a network.
 */
export class FakeSocket {
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: (() => void) | null = null;
  binaryType = '';
  isClosed = false;

  /**
   * What was sent, parsed.
   */
  readonly sent: Record<string, unknown>[] = [];

  send(text: string): void {
    this.sent.push(JSON.parse(text) as Record<string, unknown>);
  }

  close(): void {
    this.isClosed = true;
  }

  /**
   * Let a message of the server come.
   */
  take(message: unknown): void {
    const data =
      message instanceof ArrayBuffer ? message : JSON.stringify(message);
    this.onmessage?.({ data });
  }
}
