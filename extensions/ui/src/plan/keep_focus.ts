/**
 * Draw the content of an element anew. What had the focus in it has it again, by its place.
 */
export function keepFocus(element: Element, draw: () => void): void {
  const stops = (): readonly (HTMLElement | SVGElement)[] => [
    ...element.querySelectorAll<HTMLElement | SVGElement>('button, [tabindex]')
  ];
  const place = stops().findIndex(stop => stop.matches(':focus'));
  draw();
  stops()[place]?.focus();
}
