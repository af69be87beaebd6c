/**
 * What a cell shows while it goes on: its kind and its name.
 *
 * Mirrors `LIVE_MIME` of `smtc_lab.views.live_display`.
 */
export const LIVE_MIME = 'application/vnd.smtc-lab.live+json';

/**
 * What a notebook keeps of a table of runs; mirrors `TABLE_MIME` of `smtc_lab.views.run_table`.
 */
export const TABLE_MIME = 'application/vnd.smtc-lab.run-table+json';

/**
 * What shows a widget of a kernel.
 */
export const WIDGET_MIME = 'application/vnd.jupyter.widget-view+json';
