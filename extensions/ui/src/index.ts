export * from './model.js';
export * from './static_model.js';
export * from './views.js';
