import { plainText } from '@smtc-lab/protocol';

const NAMESPACE = 'http://www.w3.org/2000/svg';

/**
 * Make an element of an SVG image. Texts are text nodes, never markup.
 */
export function s<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, string | number>> = {},
  ...children: readonly (Node | string)[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS(NAMESPACE, tag);
  for (const [name, value] of Object.entries(attributes)) {
    element.setAttribute(
      name,
      typeof value === 'string' ? plainText(value) : String(value)
    );
  }
  element.append(
    ...children.map(child =>
      typeof child === 'string' ? plainText(child) : child
    )
  );
  return element;
}
