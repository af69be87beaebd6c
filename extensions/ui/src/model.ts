/**
 * What a view knows of its host: a model with named values, messages, and nothing else.
 *
 * anywidget's model is one; a JupyterLab panel brings another. No view may know which it has.
 */
export interface IModel {
  /**
   * Return a value by its name; as Python or a server sent it, so it must be parsed.
   */
  get(name: string): unknown;

  /**
   * Change a value. It is sent with the next `save_changes`.
   */
  set(name: string, value: unknown): void;

  /**
   * Send what was changed.
   */
  save_changes(): void;

  /**
   * Call back when a value changes (`change:NAME`), or a message comes (`msg:custom`).
   */
  on(event: string, callback: ModelCallback): void;

  /**
   * Stop calling back.
   */
  off(event: string, callback: ModelCallback): void;

  /**
   * Send a message.
   */
  send(message: unknown): void;
}

/**
 * For `msg:custom`: the message and its buffers.
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the hosts' own signature
export type ModelCallback = (...values: any[]) => void;

/**
 * One view: what is kept for each model, and what is drawn for each place that shows it.
 */
export interface IView {
  /**
   * Begin to listen to a model, once, before it is shown anywhere. Messages that come before
   * this are lost, so it asks for them again.
   *
   * @returns What `render` gets as `state`.
   */
  initialize(model: IModel): unknown;

  /**
   * Show the model in an element. May be called several times for one model.
   *
   * @returns What to call when the place goes away.
   */
  render(context: IRenderContext): () => void;
}

/**
 * Where a view is drawn.
 */
export interface IRenderContext {
  readonly model: IModel;

  /**
   * An empty element that belongs to the view.
   */
  readonly el: HTMLElement;

  /**
   * What `initialize` returned for this model.
   */
  readonly state: unknown;
}
