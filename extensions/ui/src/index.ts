export * from './model.js';
export * from './views.js';
