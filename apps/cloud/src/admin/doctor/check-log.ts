/** Doctor: reads every row of the ingest log, and reports missing rows that followers still need and losses that no one has accepted. */
import { dataLoss, type PlatformError } from '@platform/base';
import type { LogDamage, LogLoss, LogRow, ReadLimit } from '../../ingest/log/log.ts';
import { positionsText } from '../../ingest/losses/positions-text.ts';
import { findLogDamage } from './find-log-damage.ts';

/** The log in either store; its opener disposes it. */
export interface LogToCheck {
  read(after: number, limit: ReadLimit): Promise<readonly LogRow[]> | readonly LogRow[];
  follow(after: number, limit: ReadLimit): Promise<readonly LogRow[]> | readonly LogRow[];
  losses(): Promise<readonly LogLoss[]> | readonly LogLoss[];
}

const shown = 20;

/** @throws data_loss naming the positions */
export function describeLosses(losses: readonly LogLoss[]): string {
  const open = losses.filter(({ acceptedMs }) => acceptedMs === null);
  if (open.length > 0) throw lossOf(open);
  return losses.length === 0 ? 'no uploads were lost' : `${losses.length} losses, all of them accepted`;
}

/**
 * @param followed all followers have processed the log up to here, so earlier rows may be truncated. Must be read before the log.
 * @throws data_loss naming the positions
 */
export async function checkLog(log: LogToCheck, followed: number): Promise<string> {
  const { damages, rows } = await findLogDamage(log, followed);
  const losses = await log.losses();
  const isAccepted = ({ first, last }: LogDamage): boolean =>
    losses.some((loss) => loss.acceptedMs !== null && loss.first <= first && loss.last >= last);
  const open = [
    ...losses.filter(({ acceptedMs }) => acceptedMs === null),
    ...damages.filter((damage) => !isAccepted(damage)),
  ];
  if (open.length > 0) throw lossOf(open);
  return `${rows} uploads in the ingest log, each as it was written`;
}

function lossOf(damages: readonly LogDamage[]): PlatformError {
  const texts = new Set(damages.map(textOf));
  return dataLoss(
    `expected the rows of the ingest log as they were written, found ${texts.size} that are not (${[...texts].slice(0, shown).join('; ')}${texts.size > shown ? '; …' : ''}). Restore them from a backup with platform admin repair --from BACKUP --apply, or accept the loss with platform admin repair --accept-loss --apply`,
  );
}

function textOf(damage: LogDamage): string {
  const { parts, reason } = damage;
  return `${positionsText(damage)}${parts === null ? '' : ` of part ${parts.join(', ')}`}: ${reason}`;
}
