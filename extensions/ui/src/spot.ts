/**
 * The module that a kernel sends when the part about interruptions is unfolded.
 */
export { spotSection } from './spot/section.js';
