const MARK = 'data-lm-suppress-shortcuts';

/**
 * Keys that edit a text with Ctrl or Cmd held: all, copy, cut, paste, undo, redo.
 */
const EDITING = 'acvxyz';

/**
 * Keep keys that are pressed in a view from the notebook, where `d` `d` deletes the cell. Those
 * of the application, as Ctrl+S is, go on.
 *
 * JupyterLab asks the focused element for a mark, in the capture phase of the document; only
 * the window is asked before it, with the very key.
 */
export function keepKeys({ target }: FocusEvent): void {
  if (!(target instanceof Element)) {
    return;
  }
  const mark = (event: KeyboardEvent): void => {
    if (event.target === target) {
      target.toggleAttribute(MARK, !isOfApplication(event));
    } else {
      window.removeEventListener('keydown', mark, { capture: true });
    }
  };
  window.addEventListener('keydown', mark, { capture: true });
}

function isOfApplication(event: KeyboardEvent): boolean {
  const { key, shiftKey } = event;
  const isHeld = event.ctrlKey || event.metaKey || event.altKey;
  const isNamed = key.length > 1; // Enter, arrows: they move in forms and charts
  const isEditing =
    EDITING.includes(key.toLowerCase()) && (!shiftKey || /z/i.test(key));
  // on many keyboards AltGr types a character, and tells that Ctrl and Alt are held
  const isTyping = event.getModifierState('AltGraph');
  return isHeld && !isNamed && !isEditing && !isTyping;
}
