/** Reads every row of the ingest log, and finds damaged and missing ones. */
import type { LogDamage, LogRow, ReadLimit } from '../../ingest/log/log.ts';
import type { LogToCheck } from './check-log.ts';

const limit: ReadLimit = { rows: 1_000, bytes: 16 << 20 };

/** @param followed all followers have processed the log up to here, so earlier rows may be truncated. Must be read before the log. */
export async function findLogDamage(
  log: Pick<LogToCheck, 'read' | 'follow'>,
  followed: number,
): Promise<{ readonly damages: readonly LogDamage[]; readonly rows: number }> {
  const damages: LogDamage[] = [];
  let rows = 0;
  const take = (found: readonly LogRow[]): number | undefined => {
    for (const { damage } of found) if (damage !== undefined) damages.push(damage);
    rows += found.length;
    return found.at(-1)?.position;
  };
  for (let after: number | undefined = 0; after !== undefined && after < followed; ) {
    const found: readonly LogRow[] = await log.read(after, limit);
    after = take(found.filter(({ position }) => position <= followed));
  }
  for (let after: number | undefined = followed; after !== undefined; ) after = take(await log.follow(after, limit));
  return { damages, rows };
}
