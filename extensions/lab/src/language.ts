import { setLanguage } from '@smtc-lab/ui/i18n.js';

/**
 * Name of our texts among those of JupyterLab's packages.
 */
export const DOMAIN = 'smtc_lab';

/**
 * What JupyterLab's translator is to us; also that of mime renderers.
 */
export interface ITexts {
  load(domain: string): {
    __(text: string, ...values: readonly (string | number)[]): string;
  };
}

/**
 * Let views speak the language that the user has chosen in JupyterLab.
 */
export function speak(translator: ITexts | undefined): void {
  if (translator !== undefined) {
    const texts = translator.load(DOMAIN);
    setLanguage((text, ...values) => texts.__(text, ...values));
  }
}
