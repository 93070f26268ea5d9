/**
 * Prices in fragments: the `billing` block of a fragment becomes a tier of the price list that names the fragment. It is read when the list
 * is set, and the list keeps those prices, so that a later edit of the fragment does not change prices already in effect.
 *
 *     {"billing": {"tier_name": "press", "in_arrears": true, "tier_credit": 5,
 *       "cost_per_month": {"per_machine": 10, "binary_data_upload_bytes": 1.5e-10}}}
 *
 * Without `in_arrears`, machines are paid in advance: for each month, or with `cost_per_year` for each year.
 */
import { isRecord, notFound } from '@platform/base';
import type { UsageName } from '../meter/usage-types.ts';
import { objectOf, wrong } from './read-json.ts';

/** The newest or the named revision of a fragment of the organization; undefined: it has none. */
export type FindFragment = (
  id: string,
  version: string,
) => Promise<{ readonly revision: string; readonly config: Readonly<Record<string, unknown>> } | undefined>;

const perByte: Readonly<Record<string, UsageName>> = {
  binary_data_upload_bytes: 'BINARY_DATA_UPLOAD',
  binary_data_egress_bytes: 'BINARY_DATA_EGRESS',
  binary_data_cloud_storage_bytes: 'BINARY_DATA_CLOUD_STORAGE',
  tabular_data_upload_bytes: 'TABULAR_DATA_UPLOAD',
  tabular_data_egress_bytes: 'TABULAR_DATA_EGRESS',
  tabular_data_cloud_storage_bytes: 'TABULAR_DATA_CLOUD_STORAGE',
  logs_data_upload_bytes: 'LOGS_UPLOAD',
  logs_cloud_storage_bytes: 'LOGS_CLOUD_STORAGE',
  logs_data_egress_bytes: 'LOGS_EGRESS',
  history_cloud_storage_bytes: 'CONFIG_HISTORY_CLOUD_STORAGE',
};
const bytesPerGigabyte = 9;

/**
 * The document with each tier `{"fragment": "ID"}`, or `"ID@REVISION"` or `"ID@TAG"`, replaced by the prices in that fragment.
 *
 * @throws not_found; invalid_argument with the path in the block
 */
export async function withFragmentTiers(document: string, find: FindFragment): Promise<string> {
  const list = parsed(document);
  if (!isRecord(list) || !Array.isArray(list['tiers'])) return document;
  if (!list['tiers'].some(isReference)) return document;
  const tiers: unknown[] = [];
  for (const [index, tier] of list['tiers'].entries())
    tiers.push(isReference(tier) ? await tierOf(tier.fragment, `tiers[${index}].fragment`, find) : tier);
  return JSON.stringify({ ...list, tiers });
}

async function tierOf(reference: string, path: string, find: FindFragment): Promise<Record<string, unknown>> {
  const [id = '', version = ''] = reference.split('@', 2);
  const found = await find(id, version);
  if (found === undefined)
    throw notFound(
      `${path}: expected a fragment of the organization and one of its revisions or tags, found ${JSON.stringify(reference.slice(0, 80))}`,
    );
  return { ...tierOfBlock(found.config['billing'], `${path}: billing`), fragment: `${id}@${found.revision}` };
}

/** @param path named in errors. @returns a tier in the form of a price list. @throws invalid_argument */
export function tierOfBlock(block: unknown, path: string): Record<string, unknown> {
  const billing = objectOf(block, path, [
    ...['cost_per_month', 'cost_per_year', 'tier_name', 'description', 'tier_credit', 'in_arrears'],
  ]);
  const inArrears = billing['in_arrears'] ?? false;
  if (typeof inArrears !== 'boolean') throw wrong(`${path}.in_arrears`, 'true or false', inArrears);
  const isYearly = billing['cost_per_year'] !== undefined;
  if (isYearly === (billing['cost_per_month'] !== undefined))
    throw wrong(`${path}.cost_per_month`, 'either cost_per_month or cost_per_year', Object.keys(billing));
  if (isYearly && inArrears) throw wrong(`${path}.in_arrears`, 'false, because years are billed in advance', true);
  const costsPath = `${path}.${isYearly ? 'cost_per_year' : 'cost_per_month'}`;
  const costs = objectOf(billing[isYearly ? 'cost_per_year' : 'cost_per_month'], costsPath, [
    'per_machine',
    ...(isYearly ? [] : Object.keys(perByte)),
  ]);
  const usage: Record<string, { price: string }> = {};
  for (const [key, value] of Object.entries(costs)) {
    const name = perByte[key];
    if (name === undefined) continue;
    if (inArrears) usage[name] = { price: decimalTextOf(value, `${costsPath}.${key}`, bytesPerGigabyte) };
    else if (value !== 0)
      throw wrong(`${costsPath}.${key}`, '0 without in_arrears, because what is used is not known in advance', value);
  }
  return {
    ...{ name: billing['tier_name'], in_arrears: inArrears, ...(inArrears && { usage }) },
    [isYearly ? 'per_machine_per_year' : 'per_machine']: decimalTextOf(
      costs['per_machine'] ?? 0,
      `${costsPath}.per_machine`,
    ),
    credit: decimalTextOf(billing['tier_credit'] ?? 0, `${path}.tier_credit`),
  };
}

/**
 * A JSON number times 10^`shift`, exactly as it is written: 1.5e-10 with a shift of 9 is 0.15.
 * @throws invalid_argument unless the result is at least 0 and has at most 12 decimals
 */
function decimalTextOf(value: unknown, path: string, shift = 0): string {
  const [, whole = '', fraction = '', exponent = '0'] =
    (typeof value === 'number' ? /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value)) : null) ?? [];
  const decimals = fraction.length - Number(exponent) - shift;
  const digits = `${whole}${fraction}`;
  if (whole === '' || decimals > 30 || decimals < -12)
    throw wrong(path, `a number from 0 with at most ${12 + shift} decimals`, value);
  const padded = decimals < 0 ? digits + '0'.repeat(-decimals) : digits.padStart(decimals + 1, '0');
  const cut = padded.length - Math.max(0, decimals);
  const after = padded.slice(cut).replace(/0+$/, '');
  if (after.length > 12) throw wrong(path, `a number from 0 with at most ${12 + shift} decimals`, value);
  const before = padded.slice(0, cut).replace(/^0+(?=\d)/, '');
  return after === '' ? before : `${before}.${after}`;
}

function isReference(tier: unknown): tier is { readonly fragment: string } {
  return isRecord(tier) && Object.keys(tier).length === 1 && typeof tier['fragment'] === 'string';
}

/** Undefined: it is not JSON; the code that reads the prices reports that. */
function parsed(document: string): unknown {
  try {
    return JSON.parse(document);
  } catch {
    return undefined;
  }
}
