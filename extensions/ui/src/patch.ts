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
