/** The metrics of this server's work. */
import { type Capture, captureCounters } from '../capture/capture.ts';
import type { Graph } from '../graph/graph.ts';
import type { RequestCounts } from '../serve/request-counts.ts';
import type { Sync } from '../sync/sync.ts';

export interface Measured {
  readonly graph: Pick<Graph, 'status'>;
  readonly capture: Pick<Capture, 'counts'>;
  readonly sync: {
    readonly tally: Pick<Sync['tally'], 'uploadedFiles' | 'uploadedReadings' | 'setAsideFiles' | 'failedAttempts'>;
  };
  readonly requests: RequestCounts;
}

export function measureServer({ graph, capture, sync, requests }: Measured, values: Map<string, number>): void {
  const states = graph.status();
  values.set('resources.all', states.length);
  values.set('resources.ready', states.filter(({ state }) => state === 'ready').length);
  values.set('resources.unhealthy', states.filter(({ state }) => state === 'unhealthy').length);
  const captures = capture.counts();
  for (const name of captureCounters) {
    const sum = captures.reduce((total, status) => total + status[name], 0);
    values.set(`capture.${name === 'diskFailures' ? 'disk_failures' : name}`, sum);
  }
  values.set('sync.uploaded_files', sync.tally.uploadedFiles);
  values.set('sync.uploaded_readings', sync.tally.uploadedReadings);
  values.set('sync.set_aside_files', sync.tally.setAsideFiles);
  values.set('sync.failed_attempts', sync.tally.failedAttempts);
  for (const [name, count] of requests.all) values.set(`requests.${name}`, count);
}
