/** What is left of a loss once the row of a position is back. */
import type { LogLoss } from '../log/log.ts';

export function subtractPosition(loss: LogLoss, position: number): readonly LogLoss[] {
  const { first, last } = loss;
  if (loss.acceptedMs !== null || position < first || position > last) return [loss];
  return [
    ...(first < position ? [{ ...loss, last: position - 1 }] : []),
    ...(last > position ? [{ ...loss, first: position + 1 }] : []),
  ];
}
