/**
 * The part of JSON Schema that Python's types become.
 */
export interface ISchema {
  /**
   * Name of another part.
   */
  readonly $ref?: string;
  readonly additionalProperties?: ISchema;

  /**
   * It, or null.
   */
  readonly anyOf?: readonly ISchema[];

  /**
   * The version that this front end reads.
   */
  readonly const?: unknown;

  /**
   * What a field is that an older version did not write.
   */
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly items?: ISchema;
  readonly prefixItems?: readonly ISchema[];
  readonly properties?: Readonly<Record<string, ISchema>>;

  /**
   * Fields that may be missing and have no default.
   */
  readonly optional?: readonly string[];
  readonly type?: string;
}
