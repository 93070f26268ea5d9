/** Stops motion: applies to every type whose service has a method `Stop`. */
import { create, type JsonObject } from '@bufbuild/protobuf';
import { errorText, unavailable } from '@platform/base';
import { isProxy, type ResourceCall } from '@platform/resources';
import type { Graph } from '../graph/graph.ts';
import type { TypeTable } from '../modules/type-table.ts';

export interface Stopper {
  /** Stops a resource by its full name, if it is running and can be stopped. @param extra parameters that only its model knows */
  stop(full: string, extra: JsonObject, call: ResourceCall): Promise<void>;
  /**
   * Stops all resources at the same time, even if some fail.
   *
   * @param extra by full name
   * @throws unavailable with those that could not be stopped
   */
  stopAll(extra: ReadonlyMap<string, JsonObject>, call: ResourceCall): Promise<void>;
}

export function createStopper(graph: Graph, types: TypeTable): Stopper {
  const stop: Stopper['stop'] = async (full, extra, call) => {
    const [api = '', name = ''] = full.split('/');
    const type = types.of(api);
    const method = type?.service.method['stop'];
    const found = graph.get(full);
    if (type === undefined || method === undefined || found === undefined) return;
    const answer = isProxy(found) ? found.forward['stop'] : type.methods['stop']?.bind(undefined, found);
    // Every Stop has a name and extra.
    await answer?.(create(method.input, { name, extra } as Record<string, unknown>), {
      signal: call.signal,
      timeoutMs: 0,
    } as never);
  };
  return {
    stop,
    async stopAll(extra, call) {
      const all = graph.status().map(({ config: { api, name } }) => `${api}/${name}`);
      const outcomes = await Promise.allSettled(all.map((full) => stop(full, extra.get(full) ?? {}, call)));
      const failed = outcomes.flatMap((outcome, at) =>
        outcome.status === 'rejected' ? [`${all[at]}: ${errorText(outcome.reason)}`] : [],
      );
      if (failed.length > 0) throw unavailable(`could not be stopped: ${failed.join('; ')}`);
    },
  };
}
