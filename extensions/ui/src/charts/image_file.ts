import { h } from '../dom.js';
import { CanvasPen } from './canvas_pen.js';
import type { IPen } from './pen.js';
import { SvgPen } from './svg_pen.js';

const SCALE = 2;

/**
 * What an image file is made of.
 */
export interface IImage {
  /**
   * In CSS pixels; a PNG has twice as many.
   */
  readonly width: number;
  readonly height: number;

  /**
   * Family of all texts.
   */
  readonly font: string;
}

/**
 * Return an image as an SVG file.
 */
export function svgFile(
  { width, height, font }: IImage,
  paint: (pen: IPen) => void
): Blob {
  const pen = new SvgPen(width, height, font);
  paint(pen);
  return new Blob([pen.toText()], { type: 'image/svg+xml' });
}

/**
 * Return an image as a PNG file.
 *
 * @param paint - Paints it; the context is the canvas's own, to measure texts.
 * @throws Error when the browser does not make one.
 */
export async function pngFile(
  { width, height, font }: IImage,
  paint: (pen: IPen, context: CanvasRenderingContext2D) => void
): Promise<Blob> {
  const canvas = h('canvas', {
    width: width * SCALE,
    height: height * SCALE
  });
  const problem = new Error(
    `No image of ${width} x ${height} pixels: this browser makes none. Save it as SVG, or the numbers.`
  );
  const context = canvas.getContext('2d');
  if (context === null) {
    throw problem;
  }
  context.scale(SCALE, SCALE);
  paint(new CanvasPen(context, font), context);
  return new Promise((resolve, reject) => {
    canvas.toBlob(file => {
      if (file === null) {
        reject(problem);
      } else {
        resolve(file);
      }
    }, 'image/png');
  });
}
