import { numberField, objectOf, textField } from '@smtc-lab/protocol';
import { RequestError } from './connection/request_error.js';
import type { Texts } from './texts.js';
import type { IProblem } from './tokens.js';

const PROTOCOL = 1;
/**
 * What a proxy says in place of a server that is gone; 424 is JupyterHub's word.
 */
const GONE: readonly number[] = [424, 502, 503, 504];
const ENABLE = 'jupyter server extension enable --py smtc_lab.views.server';

/**
 * What is wrong, and whether trying again may help.
 */
export interface IDiagnosis {
  readonly problem: IProblem;
  readonly isFinal: boolean;
}

/**
 * Say why the server extension did not answer.
 */
export function diagnose(error: unknown, texts: Texts): IDiagnosis {
  const status = error instanceof RequestError ? error.status : null;
  if (status === 404) {
    return final(
      texts.__(
        'The server extension of smtc_lab is not running: it is switched off, or smtc_lab is ' +
          'not installed where the Jupyter server runs. Switch it on there, and start the ' +
          'server again.'
      ),
      ENABLE
    );
  }
  if (status === 401 || status === 403) {
    return final(
      texts.__(
        'The Jupyter server refuses to show runs to you (status %1): your login has ended, or ' +
          'you have no right to use it. Reload the page and log in again, or ask who runs ' +
          'the server.',
        status
      )
    );
  }
  if (status === 200) {
    return final(
      texts.__(
        'Something else answers in place of the server extension of smtc_lab: a proxy, or a ' +
          'login page. Reload the page and log in again.'
      )
    );
  }
  const isGone = status === null || GONE.includes(status);
  const message = isGone
    ? texts.__(
        'The Jupyter server does not answer. Runs go on without it. Trying again …'
      )
    : texts.__(
        'The Jupyter server answers with status %1. Its log tells why. Trying again …',
        status
      );
  return { problem: { message, command: null }, isFinal: false };
}

/**
 * Say that the server answers, but not over a WebSocket.
 */
export function socketProblem(texts: Texts): IProblem {
  return {
    message: texts.__(
      'The server answers, but its WebSocket does not open: a proxy in between must pass on ' +
        'the headers "Upgrade" and "Connection". Trying again …'
    ),
    command: null
  };
}

/**
 * Say whether the server extension and this page are of one version.
 *
 * @param info - What the server says of itself.
 * @param version - Of this page.
 * @returns What is wrong; final where they do not understand each other. Null: nothing.
 */
export function checkVersion(
  info: unknown,
  version: string,
  texts: Texts
): IDiagnosis | null {
  const server = objectOf(info, 'The description of the server');
  const protocol = numberField(server, 'protocol');
  const serverVersion = textField(server, 'version');
  if (protocol === PROTOCOL && serverVersion === version) {
    return null;
  }
  const message = texts.__(
    'This page has version %1 of smtc_lab, and the server %2. Restart the server and reload ' +
      'the page. If it stays so, two copies of smtc_lab are installed; this tells where:',
    version,
    serverVersion
  );
  return {
    problem: { message, command: 'jupyter labextension list' },
    isFinal: protocol !== PROTOCOL
  };
}

function final(message: string, command: string | null = null): IDiagnosis {
  return { problem: { message, command }, isFinal: true };
}
