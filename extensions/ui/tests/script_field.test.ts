import { beforeEach, describe, expect, it, vi } from 'vitest';
import wire from '../../../tests/fixtures/scripts.json';
import { ScriptField } from '../src/scripts/script_field.js';
import { button, labelled, type } from './forms_kit.js';

const NOTHING = { ...wire, saved: null };

describe('the field of a script', () => {
  const onScript = vi.fn<(path: string) => void>();
  const send = vi.fn<(message: unknown) => void>();
  let field: ScriptField;

  beforeEach(() => {
    onScript.mockClear();
    send.mockClear();
    field = new ScriptField(onScript, send);
    document.body.replaceChildren(field.element);
    field.show('/home/me/old.py');
  });

  const chooser = (): HTMLElement =>
    field.element.querySelector('.smtc-scripts') as HTMLElement;
  const open = (told: unknown = NOTHING): void => {
    button(field.element, 'Choose …').click();
    field.offer(told);
  };

  it('is typed into', () => {
    type(labelled(field.element, 'Training script'), 'new.py');

    expect(onScript).toHaveBeenCalledWith('new.py');
    expect(send).not.toHaveBeenCalled();
  });

  it('shows the end of a path that does not fit, also once it is left', async () => {
    const control = labelled(field.element, 'Training script');
    Object.defineProperty(control, 'scrollWidth', { value: 500 });
    const drawn = (): Promise<unknown> =>
      new Promise(resolve => requestAnimationFrame(resolve));

    field.show('/home/me/a/long/way/train.py');
    await drawn();
    expect(control.scrollLeft).toBe(500);

    control.scrollLeft = 0; // as a browser does
    control.dispatchEvent(new FocusEvent('blur'));
    await drawn();
    expect(control.scrollLeft).toBe(500);
  });

  it('asks for what is at hand once it is opened, and says that it looks', () => {
    expect(chooser().hidden).toBe(true);

    button(field.element, 'Choose …').click();

    expect(send).toHaveBeenCalledWith({ type: 'scripts', folder: '' });
    expect(chooser().textContent).toContain('Looking');
    expect(
      button(field.element, 'Choose …').getAttribute('aria-expanded')
    ).toBe('true');
  });

  it('takes a script that was used, an example and a file', () => {
    for (const [name, path] of [
      ['train.py', '/home/me/train.py'],
      ['digits.py', '/lib/digits.py'],
      ['b & c.py', '/home/me/b & c.py']
    ] as const) {
      open();
      button(chooser(), name).click();

      expect(onScript).toHaveBeenLastCalledWith(path);
      expect(chooser().hidden).toBe(true);
      expect(labelled(field.element, 'Training script').value).toBe(path);
      expect(document.activeElement).toBe(button(field.element, 'Choose …'));
    }
  });

  it('shows what examples do as text', () => {
    open();

    expect(chooser().textContent).toContain('Trains <b>it</b>.');
  });

  it('goes into folders, and up', () => {
    open();
    button(chooser(), 'data/').click();
    expect(send).toHaveBeenLastCalledWith({
      type: 'scripts',
      folder: '/home/me/data'
    });

    button(chooser(), 'Folder above').focus();
    button(chooser(), 'Folder above').click();
    expect(send).toHaveBeenLastCalledWith({ type: 'scripts', folder: '/home' });
    const root = { path: '/', parent: null, folders: ['home'], files: [] };
    field.offer({ ...NOTHING, folder: { ...NOTHING.folder, ...root } });

    expect(button(chooser(), 'Folder above').disabled).toBe(true);
    expect(document.activeElement).toBe(
      chooser().querySelector('.smtc-folder')
    );
    button(chooser(), 'home/').click();
    expect(send).toHaveBeenLastCalledWith({ type: 'scripts', folder: '/home' });
  });

  it('takes a cell once it has become a file', () => {
    open();
    button(chooser(), 'Cell [3]').click();

    expect(send).toHaveBeenLastCalledWith({ type: 'cell-script', cell: 3 });
    expect(onScript).not.toHaveBeenCalled();
    field.offer(wire);

    expect(onScript).toHaveBeenCalledWith('/runs/cells/cell_1.py');
    expect(chooser().hidden).toBe(true);
  });

  it('says why a cell becomes no file', () => {
    open();
    button(chooser(), 'Cell [3]').click();
    const problem = 'line 1 of the cell is not Python.';
    field.offer({ ...wire, saved: { number: 3, path: '', problem } });

    expect(chooser().querySelector('[role=alert]')?.textContent).toBe(problem);
    expect(chooser().hidden).toBe(false);
  });

  it('says why a folder cannot be looked into, and what is left out', () => {
    const offered = (more: object): string => {
      open({ ...NOTHING, folder: { ...NOTHING.folder, ...more } });
      const text = chooser().textContent;
      button(field.element, 'Choose …').click();
      return text;
    };

    expect(offered({ problem: 'Not allowed.', files: [] })).toContain(
      'Not allowed.'
    );
    expect(offered({ is_cut: true })).toContain('There is more in it');
    expect(offered({ folders: [], files: [] })).toContain('no Python file');
  });

  it('is closed with Escape', () => {
    open();
    chooser().dispatchEvent(
      new KeyboardEvent('keydown', { key: 'Escape', bubbles: true })
    );

    expect(chooser().hidden).toBe(true);
  });

  it('shows what it knows when it is opened again', () => {
    open();
    button(field.element, 'Choose …').click();
    button(field.element, 'Choose …').click();

    expect(chooser().textContent).toContain('train.py');
    expect(chooser().textContent).not.toContain('Looking');
    expect(send).toHaveBeenCalledTimes(2);
  });

  it('takes no news while it is closed', () => {
    field.offer(wire);

    expect(chooser().hidden).toBe(true);
    expect(onScript).not.toHaveBeenCalled();
  });
});
