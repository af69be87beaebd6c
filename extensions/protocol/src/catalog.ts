import {
  numberField,
  objectOf,
  optionalNumber,
  optionalText,
  textField,
  wordField
} from './read.js';
import { ProtocolError } from './errors.js';

/**
 * The instance type that stands for this machine as it is: no quota, no price.
 */
export const LOCAL = 'local';

const PRICE_KINDS = ['list', 'historical', 'estimated', 'user'] as const;

/**
 * Where a price comes from: AWS's price list, the last published price of a type that has left
 * it, an estimate from the EC2 price, or the user.
 */
export type PriceKind = (typeof PRICE_KINDS)[number];

/**
 * On-demand price of one instance.
 */
export interface IPrice {
  /**
   * USD for one hour of one instance, at least 0.
   */
  readonly usdPerHour: number;

  readonly kind: PriceKind;

  /**
   * Date of the price, `YYYY-MM-DD`; `YYYY-MM` where the source gives no day.
   */
  readonly date: string;
}

/**
 * One SageMaker training instance type.
 *
 * Mirrors `smtc_lab.views.widgets.catalog_trait`; both read `tests/fixtures/catalog.json`.
 */
export interface IInstanceType {
  /**
   * SageMaker's name, for example `ml.c5.9xlarge`.
   */
  readonly name: string;

  readonly vcpus: number;

  /**
   * Memory in GiB.
   */
  readonly memoryGib: number;

  /**
   * Name of the GPU or Trainium chip; null: the type has none.
   */
  readonly accelerator: string | null;

  readonly acceleratorCount: number;

  /**
   * Memory of one accelerator in GiB; null: unknown, or the type has none.
   */
  readonly acceleratorMemoryGib: number | null;

  /**
   * Rated network bandwidth in Gbit/s; null: unknown.
   */
  readonly networkGbps: number | null;

  /**
   * Null: no source, so its cost is unknown, not zero.
   */
  readonly price: IPrice | null;
}

/**
 * The instance types by name, in the order of the price list.
 */
export type Catalog = ReadonlyMap<string, IInstanceType>;

/**
 * Read a catalog.
 *
 * @throws {@link ProtocolError} when it is none.
 */
export function parseCatalog(json: unknown): Catalog {
  if (!Array.isArray(json)) {
    throw new ProtocolError(
      `A catalog is ${typeof json}, but must be a list of instance types. ` +
        'Rebuild the front end and the Python package from one version.'
    );
  }
  const types = json.map(parseInstanceType);
  return new Map(types.map(type => [type.name, type]));
}

function parseInstanceType(json: unknown): IInstanceType {
  const type = objectOf(json, 'An instance type');
  return {
    name: textField(type, 'name'),
    vcpus: numberField(type, 'vcpus'),
    memoryGib: numberField(type, 'memory_gib'),
    accelerator: optionalText(type, 'accelerator'),
    acceleratorCount: numberField(type, 'accelerator_count'),
    acceleratorMemoryGib: optionalNumber(type, 'accelerator_memory_gib'),
    networkGbps: optionalNumber(type, 'network_gbps'),
    price: type['price'] === null ? null : parsePrice(type['price'])
  };
}

function parsePrice(json: unknown): IPrice {
  const price = objectOf(json, 'A price');
  return {
    usdPerHour: numberField(price, 'usd_per_hour'),
    kind: wordField(price, 'kind', PRICE_KINDS),
    date: textField(price, 'date')
  };
}
