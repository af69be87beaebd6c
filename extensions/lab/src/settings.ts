import type { ISettingRegistry } from '@jupyterlab/settingregistry';

/**
 * The plugin whose settings they are.
 */
export const SETTINGS = '@smtc-lab/lab:plugin';

/**
 * What the user has chosen. `schema/plugin.json` explains each of them.
 */
export interface ILabSettings {
  readonly showPrice: boolean;
  readonly confirmStop: boolean;
  readonly confirmDelete: boolean;
  readonly dashboardMode: 'tab-after' | 'split-right';
  readonly rounds: number;
}

/**
 * Return the settings; what is missing or of another kind is as usual.
 *
 * @param settings - Of our plugin; null: JupyterLab has none to give.
 */
export function settingsOf(
  settings: ISettingRegistry.ISettings | null
): ILabSettings {
  const given: Readonly<Record<string, unknown>> = settings?.composite ?? {};
  const { showPrice, confirmStop, confirmDelete, dashboardMode, rounds } =
    given;
  return {
    showPrice: showPrice !== false,
    confirmStop: confirmStop !== false,
    confirmDelete: confirmDelete !== false,
    dashboardMode:
      dashboardMode === 'split-right' ? 'split-right' : 'tab-after',
    rounds: typeof rounds === 'number' ? rounds : 3
  };
}
