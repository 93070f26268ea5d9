/** Splits an amount into parts that add up to the whole. */
import { PlatformError } from '@platform/base';

/**
 * Parts in proportion to the weights. Each part is rounded towards zero; the remainder goes, one minor unit each, to the parts that lost
 * most, the first of equals first.
 *
 * @param total in minor units; may be negative.
 * @param weights not negative, and not all 0 unless the total is 0
 */
export function allocate(total: bigint, weights: readonly bigint[]): bigint[] {
  const sum = weights.reduce((all, weight) => all + weight, 0n);
  if (sum === 0n && total === 0n) return weights.map(() => 0n);
  if (sum <= 0n || weights.some((weight) => weight < 0n))
    throw new PlatformError('internal', 'allocate: expected weights from 0 with a sum above 0');
  const size = total < 0n ? -total : total;
  const parts = weights.map((weight) => (size * weight) / sum);
  const left = size - parts.reduce((all, part) => all + part, 0n);
  const byLoss = weights
    .map((weight, index) => ({ index, lost: (size * weight) % sum }))
    .toSorted((a, b) => (a.lost === b.lost ? a.index - b.index : a.lost > b.lost ? -1 : 1));
  for (const { index } of byLoss.slice(0, Number(left))) parts[index] = (parts[index] ?? 0n) + 1n;
  return total < 0n ? parts.map((part) => -part) : parts;
}
