/** A cloud with its web UI, many machines, and one machine with a long log. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { buildWebUi } from '../../../tools/build-web-ui.js';
import { type FleetCloud, startFleetCloud } from '../fleet/fleet-cloud.ts';
import { provisionFleet } from '../fleet/provision-fleet.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

export interface WebCloud extends AsyncDisposable {
  readonly cloud: FleetCloud;
  /** The part with the long log. */
  readonly partId: string;
  readonly machineId: string;
}

export async function startWebCloud(machines: number, lines: number): Promise<WebCloud> {
  const isBuilt = buildWebUi(root, process.execPath, console.error, () => () => {});
  if (!isBuilt) throw new Error('the web UI could not be built');
  await using stack = new AsyncDisposableStack();
  const env = { PLATFORM_WEB_UI: join(root, 'apps/web/build') };
  const cloud = stack.use(await startFleetCloud({ env }));
  await provisionFleet(cloud, machines - 1);
  const { partId, machineId } = cloud;
  // A part may store 10,000 lines a minute (D29), so sending them would take too long.
  await cloud.kill();
  fillLog(join(cloud.dataDirectory, 'meta.sqlite'), partId, lines);
  await cloud.restart();
  const kept = stack.move();
  return { cloud, partId, machineId, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

/** Lines of the last hours, 100 ms apart. */
function fillLog(file: string, partId: string, lines: number): void {
  using db = new DatabaseSync(file);
  db.exec('begin');
  const insert = db.prepare(
    'insert into machine_logs (part_id, time_ms, level, logger_name, host, message, detail, received_ms) values (?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const endMs = Date.now();
  for (let line = 0; line < lines; line++) {
    const timeMs = endMs - (lines - line) * 100;
    const level = line % 50 === 0 ? 'error' : line % 10 === 0 ? 'warn' : 'info';
    const message = `line ${line}: the reading of sensor-${line % 40} took ${line % 17} ms, of which ${line % 5} ms waited`;
    insert.run(partId, timeMs, level, `machine.sensor-${line % 40}`, 'press-7', message, '{}', timeMs);
  }
  db.exec('commit');
}
