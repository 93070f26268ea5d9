/** The rest of a loss after the row at a position was restored. */
import type { LogLoss } from '../log/log.ts';

export function subtractPosition(loss: LogLoss, position: number): readonly LogLoss[] {
  const { first, last } = loss;
  if (loss.acceptedMs !== null || position < first || position > last) return [loss];
  return [
    ...(first < position ? [{ ...loss, last: position - 1 }] : []),
    ...(last > position ? [{ ...loss, first: position + 1 }] : []),
  ];
}
