export { openSocket, request } from './request.js';
export { Stream } from './stream.js';
