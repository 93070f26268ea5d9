/** Remotes: other machines, whose resources this one has as its own. */
import type { ClockAndLog } from '@platform/base';
import { isSame } from '@platform/base';
import type { JsonObject } from '@platform/machine-config/schema';
import { logProblems } from '../logging/log-problems.ts';
import type { TypeTable } from '../modules/type-table.ts';
import { Remote, type RemoteDeps } from './remote.ts';
import { type RemoteConfig, readRemotes } from './remote-config.ts';
import { createTypeOf } from './type-of.ts';

export interface RemotesDeps extends ClockAndLog, Pick<RemoteDeps, 'provide' | 'setRemote' | 'onChange' | 'ownPartId'> {
  readonly types: Pick<TypeTable, 'of' | 'add'>;
  /** See RemoteDeps. */
  readonly reach: RemoteDeps['open'];
}

/** Disposing ends all connections. */
export interface Remotes extends AsyncDisposable {
  /** Changes the remotes to those of a configuration: unchanged ones continue, changed ones are replaced. Does not wait for them. */
  apply(entries: readonly JsonObject[]): void;
  /** Whether this remote is not reached now. */
  isAway(remote: string): boolean;
  /** Why remotes are not reached, one per line; empty if all are. */
  errors(): string;
}

export function createRemotes(deps: RemotesDeps): Remotes {
  const { types, reach, log } = deps;
  const running = new Map<string, Remote>();
  const ending = new Set<Promise<void>>();
  const remoteDeps: RemoteDeps = { ...deps, open: reach, typeOf: createTypeOf(types, log) };
  const end = (remote: Remote): void => {
    running.delete(remote.config.name);
    const over = remote.remove().finally(() => ending.delete(over));
    ending.add(over);
  };
  return {
    apply(entries) {
      const { remotes, problems } = readRemotes(entries);
      void logProblems(log, problems);
      const wanted = new Map(remotes.map((remote) => [remote.name, remote]));
      for (const remote of [...running.values()]) {
        const next = wanted.get(remote.config.name);
        if (next === undefined || !isSame(connectionOf(next), connectionOf(remote.config))) end(remote);
        else if (!isSame(next.serviceConfigs, remote.config.serviceConfigs)) remote.change(next);
      }
      for (const config of wanted.values()) {
        if (running.has(config.name)) continue;
        const remote = new Remote(config, remoteDeps);
        running.set(config.name, remote);
        remote.start();
      }
    },
    isAway: (name) => (running.get(name)?.away ?? '') !== '',
    errors: () => [...running.values()].flatMap(({ away }) => (away === '' ? [] : [away])).join('\n'),
    async [Symbol.asyncDispose]() {
      await Promise.all([...[...running.values()].map((remote) => remote[Symbol.asyncDispose]()), ...ending]);
    },
  };
}

/** Everything but what is captured, which changes without another connection. */
function connectionOf({ serviceConfigs: _, ...rest }: RemoteConfig): Omit<RemoteConfig, 'serviceConfigs'> {
  return rest;
}
