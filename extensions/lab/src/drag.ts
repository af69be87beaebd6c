import './drag.css';
import { MimeData } from '@lumino/coreutils';
import { Drag } from '@lumino/dragdrop';
import { h } from '@smtc-lab/ui/dom.js';

/**
 * What JupyterLab's notebooks take as cells.
 */
const CELLS_MIME = 'application/vnd.jupyter.cells';
const FAR_ENOUGH_PX = 5;

/**
 * A cell that can be dragged.
 */
export interface IDraggedCell {
  readonly code: string;

  /**
   * What the pointer shows meanwhile.
   */
  readonly label: string;
}

/**
 * Let the user drag cells out of an element into a notebook.
 *
 * @param host - The element; what is in it may come and go.
 * @param cellOf - Returns the cell of what was taken, or null: it is not for dragging.
 * @returns What to call to end it.
 */
export function dragCells(
  host: HTMLElement,
  cellOf: (taken: Element) => IDraggedCell | null
): () => void {
  const press = (event: PointerEvent): void => {
    const { target } = event;
    const cell =
      event.button === 0 && target instanceof Element ? cellOf(target) : null;
    if (cell !== null) {
      whenMovedFar(host, event, moved => {
        void startDrag(cell, moved, host);
      });
    }
  };
  host.addEventListener('pointerdown', press);
  return () => {
    host.removeEventListener('pointerdown', press);
  };
}

/**
 * Return what travels with a drag.
 */
export function cellData(code: string): MimeData {
  const data = new MimeData();
  data.setData(CELLS_MIME, [
    {
      cell_type: 'code',
      execution_count: null,
      metadata: {},
      outputs: [],
      source: code
    }
  ]);
  data.setData('text/plain', code);
  return data;
}

/**
 * Call back once, when the pressed pointer has moved far enough: less is a click.
 */
function whenMovedFar(
  host: HTMLElement,
  pressed: PointerEvent,
  begin: (moved: PointerEvent) => void
): void {
  const { ownerDocument } = host;
  const leave = (): void => {
    ownerDocument.removeEventListener('pointermove', move);
    ownerDocument.removeEventListener('pointerup', leave);
    ownerDocument.removeEventListener('pointercancel', leave);
  };
  const move = (event: PointerEvent): void => {
    const far = Math.hypot(
      event.clientX - pressed.clientX,
      event.clientY - pressed.clientY
    );
    if (far >= FAR_ENOUGH_PX) {
      leave();
      begin(event);
    }
  };
  ownerDocument.addEventListener('pointermove', move);
  ownerDocument.addEventListener('pointerup', leave);
  ownerDocument.addEventListener('pointercancel', leave);
}

async function startDrag(
  { code, label }: IDraggedCell,
  { clientX, clientY }: PointerEvent,
  source: HTMLElement
): Promise<void> {
  const drag = new Drag({
    document: source.ownerDocument,
    mimeData: cellData(code),
    dragImage: h('div', { class: 'jp-SmtcDragged' }, label),
    supportedActions: 'copy',
    proposedAction: 'copy',
    source
  });
  await drag.start(clientX, clientY);
  drag.dispose();
}
