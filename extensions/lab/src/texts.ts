import type { TranslationBundle } from '@jupyterlab/translation';

/**
 * The texts of the extension in the language of JupyterLab.
 */
export type Texts = Pick<TranslationBundle, '__' | '_n'>;
