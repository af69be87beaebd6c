import { beforeEach, describe, expect, it } from 'vitest';
import {
  beginOf,
  bounded,
  paragraph,
  tell,
  tellProblems
} from '../src/bounded.js';
import { h } from '../src/dom.js';
import { messages } from '../src/monitor/messages.js';
import { buttonIn } from './fake_model.js';

const LONG = Array.from({ length: 200 }, (_, word) => `word${word}`).join(' ');
const STACK = Array.from({ length: 30 }, (_, line) => `line ${line}`).join(
  '\n'
);

/**
 * Return what can be read of an element, without its buttons.
 */
function seen(element: HTMLElement): string {
  return [...element.childNodes]
    .filter(
      node =>
        !(
          node instanceof HTMLElement &&
          (node.hidden || node.matches('button'))
        )
    )
    .map(node => node.textContent)
    .join('');
}

describe('a text of any length', () => {
  let long: HTMLElement;

  beforeEach(() => {
    long = paragraph(`${Math.random()} ${LONG}`);
    document.body.replaceChildren(long);
  });

  it('is shown as it is where it is short', () => {
    expect(bounded('The script exited with 3.')).toEqual([
      'The script exited with 3.'
    ]);
  });

  it('begins with whole words, and with few lines', () => {
    const begin = beginOf(LONG);

    expect(begin.length).toBeLessThanOrEqual(400);
    expect(LONG.startsWith(`${begin} `)).toBe(true);
    expect(beginOf(STACK).split('\n')).toHaveLength(6);
  });

  it('is not cut inside a character', () => {
    const begin = beginOf(`${'a'.repeat(399)}${'😀'.repeat(200)}`);

    expect(begin).toBe('a'.repeat(399));
  });

  it('is shown whole, and folded again, by a button that says which', () => {
    const whole = `${long.firstChild?.textContent}${long.children[1]?.textContent}`;
    const more = buttonIn(long, 'Show all');
    expect(more.getAttribute('aria-expanded')).toBe('false');
    expect(seen(long)).toBe(beginOf(whole));

    more.click();

    expect(more.textContent).toBe('Show less');
    expect(more.getAttribute('aria-expanded')).toBe('true');
    expect(seen(long)).toBe(whole);
    more.click();
    expect(seen(long)).toBe(beginOf(whole));
  });

  it('stays unfolded, with its button and the focus, when it is told again', () => {
    const text = `${Math.random()} ${LONG}`;
    const host = h('p', { role: 'status' });
    document.body.append(host);
    tell(host, text);
    const more = buttonIn(host, 'Show all');
    more.focus();
    more.click();

    tell(host, text);

    expect(document.activeElement).toBe(more);
    expect(seen(host)).toBe(text);
  });

  it('unfolds what stands there now, not what stood there before', () => {
    const host = h('p');
    tell(host, `first ${LONG}`);
    const other = `other ${STACK}`;
    tell(host, other);

    buttonIn(host, 'Show all').click();

    expect(seen(host)).toBe(other);
  });

  it('never becomes markup, and holds nothing that a reader obeys', () => {
    const host = paragraph(`<b>\u202e${LONG}`);

    expect(host.querySelector('b')).toBeNull();
    expect(host.textContent).not.toContain('\u202e');
  });
});

describe('a live region', () => {
  it('is changed by another text only, as each change is spoken', () => {
    const host = h('div', { role: 'status' });
    tellProblems(host, ['One.', 'Two.']);
    const changes: MutationRecord[] = [];
    const observer = new MutationObserver(records => changes.push(...records));
    observer.observe(host, { subtree: true, childList: true });

    tellProblems(host, ['One.', 'Two.']);
    changes.push(...observer.takeRecords());
    expect(changes).toEqual([]);
    tellProblems(host, ['One.']);
    changes.push(...observer.takeRecords());

    expect(changes).toHaveLength(1);
    expect(host.textContent).toBe('One.');
  });
});

it('findings, notes and events of any length are bounded', () => {
  const finding = {
    severity: 'warning',
    sentence: LONG,
    fix: LONG,
    action: LONG
  } as const;
  const event = { kind: 'failure', timeS: 1, host: 'algo-1', message: STACK };
  const part = messages(() => ({
    findings: [finding],
    notes: [LONG],
    events: [event]
  }));

  part.update(null);

  expect(part.element.querySelectorAll('.smtc-more')).toHaveLength(5);
  expect(part.element.textContent).toContain('line 29');
});
