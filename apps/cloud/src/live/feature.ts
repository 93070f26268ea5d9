/** Live connections: the data on the pages of the web UI, pushed over one stream for each tab. Rules: docs/specs/live.md. */
import { type ClockAndLog, errorText, invalidArgument, resourceExhausted } from '@platform/base';
import { LiveService, type Subscription } from '@platform/proto/platform/live/v1/live';
import { reportedFault, serve } from '@platform/rpc/server';
import type { CloudBinding, CloudCall, Principal } from '../access/principal.ts';
import type { IngestLog } from '../ingest/log/log.ts';
import { type AnswersSourceDeps, answersSource } from './answers-source.ts';
import { LiveConnection } from './connection.ts';
import { type FleetSourceDeps, fleetSource } from './fleet-source.ts';
import { heartbeatMs, maxConnectionsOfCaller, minIntervalMs, recheckMs } from './limits.ts';
import { NewestReadings } from './newest-readings.ts';
import { logSource, type PartSourceDeps, readingsSource, statusSource } from './part-sources.ts';
import type { Source } from './source.ts';

export interface LiveDeps
  extends FleetSourceDeps,
    AnswersSourceDeps,
    Omit<PartSourceDeps, 'access' | 'readings' | 'clock'>,
    ClockAndLog {
  readonly ingestLog: Pick<IngestLog, 'read' | 'lastPosition' | 'onCommit'>;
  /** The current principal of the call. @throws unauthenticated */
  readonly recheck: (call: CloudCall) => Promise<Principal>;
}

export function liveBinding(deps: LiveDeps): CloudBinding {
  const { clock, recheck, log } = deps;
  const readings = new NewestReadings(deps.ingestLog, clock, (caught) =>
    log.warn('the newest readings could not be read for live connections', { error: errorText(caught) }),
  );
  const sourceOf = (topic: Subscription['topic']): Source => {
    switch (topic.case) {
      case 'fleetOf':
        return fleetSource(deps, topic.value);
      case 'statusOf':
        return statusSource({ ...deps, readings }, topic.value);
      case 'readingsOf':
        return readingsSource({ ...deps, readings }, topic.value);
      case 'logsOf':
        return logSource({ ...deps, readings }, topic.value);
      case 'answersTo':
        return answersSource(deps, topic.value, (caught) => reportedFault(caught, { method: topic.value.method }, log));
      default:
        throw invalidArgument(
          'subscription: expected one of fleet_of, status_of, readings_of, logs_of and answers_to, found none',
        );
    }
  };
  const connections = new Map<string, Map<string, LiveConnection>>();
  const enter = (call: CloudCall): { readonly connection: LiveConnection; leave(): void } => {
    const caller = callerOf(call.principal);
    const ofCaller = connections.get(caller) ?? new Map<string, LiveConnection>();
    if (ofCaller.size >= maxConnectionsOfCaller)
      throw resourceExhausted(
        `Watch: expected at most ${maxConnectionsOfCaller} live connections of one caller, found that many already; close some tabs`,
      );
    const connection = new LiveConnection(call, clock, sourceOf, (caught) =>
      reportedFault(caught, { method: call.method }, log),
    );
    ofCaller.set(connection.id, connection);
    connections.set(caller, ofCaller);
    const leave = (): void => {
      ofCaller.delete(connection.id);
      if (ofCaller.size === 0) connections.delete(caller);
      connection[Symbol.dispose]();
    };
    return { connection, leave };
  };

  return serve<typeof LiveService, Principal>(LiveService, {
    async *watch({ subscriptions }, call) {
      const { connection, leave } = enter(call);
      try {
        connection.change([], subscriptions);
        yield { connection: connection.id, updates: [] };
        let [checkedMs, sentMs] = [clock.monotonic(), clock.monotonic()];
        for (;;) {
          const updates = await connection.take(recheckMs, call.signal);
          if (clock.monotonic() - checkedMs >= recheckMs) {
            connection.recheck(await recheck(call));
            checkedMs = clock.monotonic();
          }
          if (updates.length === 0 && clock.monotonic() - sentMs < heartbeatMs) continue;
          sentMs = clock.monotonic();
          yield { updates: [...updates] };
          await clock.sleep(minIntervalMs, call.signal);
        }
      } finally {
        leave();
      }
    },
    async change({ connection, remove, add }, call) {
      const found = connections.get(callerOf(call.principal))?.get(connection);
      found?.change(remove, add);
      return { known: found !== undefined };
    },
  });
}

function callerOf(principal: Principal): string {
  if (principal.kind === 'part') return `part ${principal.partId}`;
  return principal.kind === 'key' ? `key ${principal.keyId}` : `person ${principal.personId}`;
}
