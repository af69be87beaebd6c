/**
 * Call back when an element comes into sight, goes out of it, or changes its size. A page that
 * is not drawn, as in tests, never does.
 *
 * @returns What to call to be left alone.
 */
export function whenSeen(
  element: HTMLElement,
  callback: (isSeen: boolean) => void
): () => void {
  if (!('IntersectionObserver' in window)) {
    return () => undefined;
  }
  let isSeen = false;
  const sight = new IntersectionObserver(entries => {
    isSeen = entries[entries.length - 1]?.isIntersecting ?? false;
    callback(isSeen);
  });
  const size = new ResizeObserver(() => {
    callback(isSeen);
  });
  sight.observe(element);
  size.observe(element);
  return () => {
    sight.disconnect();
    size.disconnect();
  };
}
