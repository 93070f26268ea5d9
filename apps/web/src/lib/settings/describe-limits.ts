/** Limits of an organization in words. */
import type { Limit } from '@platform/proto/platform/fleet/v1/fleet';
import { bytesText } from '../ui/bytes.ts';

export interface LimitWords {
  readonly what: string;
  readonly allowed: string;
  /** Empty: it is not counted. */
  readonly used: string;
  /** Used share of the limit, from 0 to 1; undefined: it is not counted. */
  readonly share: number | undefined;
}

export function limitWords({ meaning, unit, value, used }: Limit): LimitWords {
  const text = (amount: bigint): string =>
    unit.endsWith('bytes') ? bytesText(Number(amount)) : `${amount.toLocaleString()} ${unit}`;
  return {
    what: `${meaning.charAt(0).toUpperCase()}${meaning.slice(1)}`.replace(/ \([A-Z]\d+\)$/, ''),
    allowed: text(value),
    used: used === undefined ? '' : text(used),
    share: used === undefined ? undefined : value === 0n ? 1 : Math.min(1, Number(used) / Number(value)),
  };
}
