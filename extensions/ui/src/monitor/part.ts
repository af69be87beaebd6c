/**
 * A piece of a monitor.
 *
 * @typeParam T - The description of what is watched.
 */
export interface IPart<T> {
  readonly element: HTMLElement;

  /**
   * Show what is known now.
   */
  update(info: T): void;

  /**
   * Let go of everything. Safe to call twice.
   */
  dispose?(): void;
}

/**
 * A piece that is written down whole, and changed only where it is another: what a user has
 * selected stays.
 *
 * @param draw - Returns what is in the element; nothing in it may listen.
 */
export function drawn<T>(
  element: HTMLElement,
  draw: (info: T) => readonly Node[]
): IPart<T> {
  return {
    element,
    update(info) {
      patch(element, draw(info));
    }
  };
}

/**
 * Make an element hold these nodes, and leave those alone that it holds already.
 */
export function patch(host: Node, nodes: readonly Node[]): void {
  nodes.forEach((node, place) => {
    const old = host.childNodes[place];
    if (old === undefined) {
      host.appendChild(node);
    } else if (!old.isEqualNode(node)) {
      if (
        old.nodeType === Node.ELEMENT_NODE &&
        old.cloneNode(false).isEqualNode(node.cloneNode(false))
      ) {
        patch(old, [...node.childNodes]);
      } else {
        host.replaceChild(node, old);
      }
    }
  });
  while (host.childNodes.length > nodes.length) {
    host.lastChild?.remove();
  }
}
