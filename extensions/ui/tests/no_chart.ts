/**
 * A chart that draws nothing: jsdom has no canvas.
 */
export class Chart {
  readonly element = document.createElement('figure');

  add(): void {
    // nothing is drawn
  }

  shade(): void {
    // nothing is drawn
  }

  end(): void {
    // nothing is drawn
  }

  dispose(): void {
    this.element.remove();
  }
}
