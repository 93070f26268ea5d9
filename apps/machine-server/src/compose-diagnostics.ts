/** Wires the observers of the server: full-time diagnostics (`-ftdc`) and telemetry (`-output-telemetry`). */

import { join } from 'node:path';
import { type Clock, type Log, version } from '@platform/base';
import { measureProcess } from './ftdc/measure-process.ts';
import { type Measured, measureServer } from './ftdc/measure-server.ts';
import { Recorder } from './ftdc/recorder.ts';
import type { Settings } from './settings.ts';
import { createTelemetry, type Telemetry } from './telemetry/telemetry.ts';

export interface DiagnosticsDeps extends Measured {
  readonly settings: Settings;
  readonly telemetry: Telemetry | undefined;
  readonly partId: string;
  /** The revision of the running configuration. */
  readonly revision: () => string;
  readonly clock: Clock;
  readonly log: Log;
}

/** Undefined without the option. @param measured the source of its metrics, once the server exists */
export function composeTelemetry(
  { telemetry }: Settings,
  measured: () => Measured,
  clock: Clock,
): Telemetry | undefined {
  if (!telemetry) return undefined;
  return createTelemetry({
    write: (line) => void process.stdout.write(line),
    resource: { 'service.name': 'machine-server', 'service.version': version, 'process.pid': process.pid },
    measure() {
      const values = new Map<string, number>();
      using own = measureProcess();
      own.measure(values);
      measureServer(measured(), values);
      return values;
    },
    clock,
  });
}

/** Records and prints until it is disposed. */
export function composeDiagnostics(deps: DiagnosticsDeps): AsyncDisposable {
  const { settings, telemetry, partId, revision, clock, log } = deps;
  const recording = new AsyncDisposableStack();
  if (telemetry !== undefined) recording.use(telemetry.start());
  if (!settings.diagnostics) return recording;
  const own = recording.use(measureProcess());
  const recorder = recording.use(
    new Recorder({
      directory: join(settings.home, 'ftdc'),
      sample() {
        const values = new Map<string, number>();
        own.measure(values);
        measureServer(deps, values);
        return { labels: { version, part_id: partId, revision: revision() }, values };
      },
      clock,
      log,
    }),
  );
  recorder.start();
  return recording;
}
