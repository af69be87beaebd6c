import '@smtc-lab/ui/styles/index.css';

export { viewNamed } from '@smtc-lab/ui/views.js';
