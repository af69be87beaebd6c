import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';
import { RequestError } from './request_error.js';

const API = 'smtc-lab/api';

/**
 * Ask the server extension for something; with a body, post it.
 *
 * @param path - Behind `smtc-lab/api/`.
 * @throws {@link RequestError} when no answer comes, or the server refuses.
 */
export async function request(
  settings: ServerConnection.ISettings,
  path: string,
  body?: unknown
): Promise<unknown> {
  const url = URLExt.join(settings.baseUrl, API, path);
  const init =
    body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  let response: Response;
  try {
    response = await ServerConnection.makeRequest(url, init, settings);
  } catch (error) {
    throw new RequestError(null, error instanceof Error ? error.message : '');
  }
  const text = await response.text();
  if (!response.ok) {
    throw new RequestError(response.status, wordsOf(text));
  }
  return text === '' ? null : jsonOf(text, response.status);
}

/**
 * Open the WebSocket of this tab.
 */
export function openSocket(settings: ServerConnection.ISettings): WebSocket {
  const url = URLExt.join(settings.wsUrl, API, 'stream');
  // browsers cannot set a header here; JupyterLab's own sockets do the same
  const token =
    settings.appendToken && settings.token !== ''
      ? `?token=${encodeURIComponent(settings.token)}`
      : '';
  return new settings.WebSocket(url + token);
}

function jsonOf(text: string, status: number): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // a proxy's own page, or the login form
    throw new RequestError(status, 'The answer is no JSON.');
  }
}

function wordsOf(text: string): string {
  try {
    const json: unknown = JSON.parse(text);
    return typeof json === 'object' && json !== null && 'message' in json
      ? String(json.message)
      : '';
  } catch {
    return '';
  }
}
