/**
 * One attempt to build the resource of a node: finds its model, asks it for dependencies, collects these, builds, and swaps the result in.
 */
import { backoffMs, type Clock, errorText, failedPrecondition, type Log } from '@platform/base';
import type { ResourceConfig } from '@platform/machine-config/schema';
import type { Resource } from '@platform/resources';
import { stopwatch } from '../logging/stopwatch.ts';
import { type Observe, observed } from '../telemetry/observe.ts';
import { buildResource } from './build-resource.ts';
import { isReconfigurable, type Model } from './model.ts';
import type { ModelTable } from './model-table.ts';
import { type Node, noDependencies, noResources, type ResourceState, type ResourceStatus } from './node.ts';
import type { OldVersions } from './old-versions.ts';
import { associatedWith } from './plan.ts';
import { withTimeout } from './with-timeout.ts';

export interface BuildNodeDeps {
  readonly models: Pick<ModelTable, 'find'>;
  readonly configureTimeoutMs: number;
  readonly observe?: Observe | undefined;
  readonly hide?: (text: string) => string;
  readonly clock: Clock;
  readonly log: Log;
  readonly oldVersions: OldVersions;
  readonly nodes: ReadonlyMap<string, Node>;
  /** Why it cannot be built from this configuration. */
  faultOf(full: string): string | undefined;
  /** All resources of the configuration. */
  wanted(): readonly ResourceConfig[];
  /** The running resources that it depends on. @throws PlatformError if one is missing */
  resourcesFor(node: Node): ReadonlyMap<string, Resource>;
  /** Resolves once the attempts of its dependencies have ended. */
  dependenciesDone(node: Node, signal: AbortSignal): Promise<void>;
  /** Called when the model's answer about the references of its configuration has changed. */
  relate(): void;
  /** Builds the resources that waited for it, or were built with an earlier version. */
  built(full: string, fresh: Resource): void;
  statusOf(config: ResourceConfig, state: ResourceState, error?: string): ResourceStatus;
}

/** @param signal aborts when a later attempt takes its place */
export async function buildNode(node: Node, signal: AbortSignal, deps: BuildNodeDeps): Promise<void> {
  const { oldVersions, statusOf } = deps;
  const { full, config } = node;
  node.status = statusOf(config, 'configuring');
  try {
    const fault = deps.faultOf(full);
    if (fault !== undefined) throw failedPrecondition(fault);
    const found = deps.models.find(config);
    if ('waitsFor' in found) return wait(node, found.waitsFor, deps);
    const { model } = found;
    node.building = model;
    await ask(node, model, signal, deps);
    if (signal.aborted) return;
    const uses = deps.resourcesFor(node);
    node.buildingWith = uses;
    const old = node.resource;
    const took = stopwatch(deps.clock);
    const fresh = await build(node, model, uses, signal, deps);
    if (signal.aborted) return fresh === old ? undefined : await oldVersions.close(fresh, full, `the late ${full}`);
    if (old !== undefined && old !== fresh) oldVersions.add(old, full, node.uses);
    Object.assign(node, { resource: fresh, model, uses, loggedError: '', failures: 0 });
    node.status = statusOf(config, 'ready');
    const done = fresh === old ? 'changed in place' : 'built';
    deps.log.child(full).debug(`${full} is ${done}`, { model: config.model, ...took() });
    deps.built(full, fresh);
  } catch (caught) {
    if (!signal.aborted) failed(node, caught, deps);
  } finally {
    // After a superseded build, these belong to the one that replaced it.
    if (!signal.aborted) Object.assign(node, { building: undefined, buildingWith: noResources });
    await oldVersions.closeUnused(deps.nodes);
  }
}

function build(
  node: Node,
  model: Model,
  dependencies: ReadonlyMap<string, Resource>,
  signal: AbortSignal,
  { configureTimeoutMs, observe, wanted, clock, log }: BuildNodeDeps,
): Promise<Resource> {
  const { full, config } = node;
  const context = { dependencies, associated: associatedWith(config, wanted()), log: log.child(full) };
  const one = { config, model, context, running: node };
  return observed(observe, 'resource.build', { resource: full, model: model.model }, () =>
    buildResource(one, configureTimeoutMs, clock, signal),
  );
}

/** Logs why it failed, and when it is tried again. */
function failed(node: Node, caught: unknown, { hide, clock, log, statusOf }: BuildNodeDeps): void {
  const { full, config, resource } = node;
  node.failures++;
  if (resource !== undefined && isReconfigurable(resource) && resource.isLost?.() === true)
    Object.assign(node, { resource: undefined, model: undefined, uses: noResources });
  const waitMs = backoffMs(node.failures, { firstMs: 1_000, maxMs: 60_000 });
  node.retryAt = clock.monotonic() + waitMs;
  const error = hide?.(errorText(caught)) ?? errorText(caught);
  const what =
    node.resource === undefined
      ? `${full} could not be built`
      : `the new version of ${full} could not be built, and the old one keeps running`;
  if (node.loggedError !== error)
    log.child(full).error(`${what}; trying again: ${error}`, {
      resource: full,
      waitMs: Math.round(waitMs),
    });
  node.loggedError = error;
  node.status = statusOf(config, 'unhealthy', error);
}

const waiting = 'waiting for its model';

/** Waits until a module reports what it provides. */
function wait(node: Node, what: string, { log, statusOf }: BuildNodeDeps): void {
  const { full, config } = node;
  node.status = statusOf(config, 'configuring', `waits for its model ${config.model}: ${what} is starting`);
  // As modules become ready, it waits for fewer of them.
  if (node.loggedError !== waiting)
    log.child(full).info(`${full} waits for its model: ${what} is starting`, { resource: full });
  node.loggedError = waiting;
}

/** Asks the model for the resources to which the configuration refers, and waits for them. */
async function ask(node: Node, model: Model, signal: AbortSignal, deps: BuildNodeDeps): Promise<void> {
  if (model.dependencies === undefined && node.implicit === noDependencies) return;
  const { configureTimeoutMs: limitMs, clock } = deps;
  const asked = model.dependencies?.(node.config, signal) ?? Promise.resolve(noDependencies);
  const text = `its model did not check its configuration within ${limitMs} ms`;
  const implicit = await withTimeout(asked, limitMs, text, clock, signal);
  if (JSON.stringify(implicit) === JSON.stringify(node.implicit)) return;
  node.implicit = implicit;
  deps.relate();
  await deps.dependenciesDone(node, signal);
}
