/** Derives collectors from a configuration: which methods of which resources are captured, how often and where. Pure. */
import { canonicalApi, errorText, type Problem } from '@platform/base';
import { methodNamed } from '@platform/machine-config/capture-methods';
import { type CaptureMethodConfig, readCaptureMethods } from '@platform/machine-config/data-manager';
import { maxTags } from '@platform/machine-config/limits';
import type { JsonObject } from '@platform/machine-config/schema';
import { formatResourceName, parseResourceName, type ResourceDescriptor, type ResourceName } from '@platform/resources';
import type { Associated } from '../graph/model.ts';

export interface CapturePlan {
  /** Identifies the collector: resource, method and parameters. */
  readonly key: string;
  /** Full name of the resource. */
  readonly resource: string;
  readonly api: string;
  readonly name: string;
  /** As the specification spells it. */
  readonly method: string;
  readonly kind: 'tabular' | 'binary';
  readonly hz: number;
  /** How much longer than usual a reading may take. */
  readonly extraMs: number;
  readonly params: JsonObject;
  /** The tags of the service, then those of the method (D12). */
  readonly tags: readonly string[];
  readonly directory: string;
  readonly maxFileBytes: number;
  /** Undefined: as many as fit into the memory for them. */
  readonly queueSize: number | undefined;
  readonly bufferBytes: number;
}

/** Upper limit: each open file allocates its buffer at once. */
const mostBufferBytes = 1024 * 1024;
/** Readings that can wait in memory while the disk is behind: a thousand per second for more than a minute and a half. */
const mostQueued = 100_000;

export interface CaptureDefaults {
  readonly tags: readonly string[];
  readonly directory: string;
  readonly maxFileBytes: number;
  /** False with `-untrusted-env`: a method may not set its own capture directory (D16). */
  readonly ownDirectories: boolean;
  /** The types of this version; of other types, which only modules know, `DoCommand` can be captured. */
  readonly types: readonly ResourceDescriptor[];
}

export function planCapture(
  resources: readonly Associated[],
  defaults: CaptureDefaults,
  resolvePath: (path: string) => string,
): { plans: CapturePlan[]; problems: Problem[] } {
  const plans = new Map<string, CapturePlan>();
  const problems: Problem[] = [];
  resources.forEach((resource) => {
    const { methods, problems: found } = readCaptureMethods(resource, resource.name);
    problems.push(...found);
    for (const config of methods) {
      const plan = planOne(resource, config, defaults, resolvePath, problems);
      if (plan === undefined) continue;
      if (plans.has(plan.key)) {
        const message = `${plan.key} is listed twice; the first entry is used`;
        problems.push({ path: resource.name, level: 'warning', message });
      } else {
        plans.set(plan.key, plan);
      }
    }
  });
  return { plans: [...plans.values()], problems };
}

function planOne(
  resource: ResourceName,
  config: CaptureMethodConfig,
  defaults: CaptureDefaults,
  resolvePath: (path: string) => string,
  problems: Problem[],
): CapturePlan | undefined {
  const name = (config.name === undefined ? undefined : parseResourceName(config.name)) ?? resource;
  const api = canonicalApi(name.api);
  const resourceName = formatResourceName({ api, name: name.name });
  const tell = (level: Problem['level'], message: string): undefined =>
    void problems.push({ path: resourceName, level, message });
  const complain = (message: string): undefined => tell('error', message);
  if (config.disabled || !(config.capture_frequency_hz >= 1e-6)) return undefined;
  const type = defaults.types.find((known) => known.api === api);
  // Of a type that only a module knows, only commands can be captured (D12).
  const known = Object.keys(type?.captures ?? { DoCommand: undefined });
  const method = methodNamed(known, config.method);
  if (method === undefined && type === undefined)
    return complain(`expected DoCommand, as for every type that only modules know, found "${config.method}" of ${api}`);
  if (method === undefined)
    return complain(
      `expected a method of ${api} that this version of the machine-server captures (${known.join(', ')}), found "${config.method}"`,
    );
  const captured = type?.captures[method ?? ''];
  let extraMs = 0;
  try {
    if (captured?.kind === 'binary')
      extraMs = captured.extraMs?.(config.additional_params, 1_000 / config.capture_frequency_hz) ?? 0;
  } catch (caught) {
    return complain(`${method}: ${errorText(caught)}`);
  }
  const atMost = <T extends number | undefined>(key: string, given: T, most: T & number): T => {
    if (given === undefined || given <= most) return given;
    tell('warning', `${key} ${given} exceeds the maximum of ${most}, which is used instead`);
    return most;
  };
  const bufferBytes = atMost('capture_buffer_size', config.capture_buffer_size, mostBufferBytes);
  const queueSize = atMost('capture_queue_size', config.capture_queue_size, mostQueued);
  const own = config.capture_directory;
  if (own !== undefined && !defaults.ownDirectories) {
    return complain('-untrusted-env does not allow changing the capture directory: capture_directory');
  }
  // The limit applies to the tags of service and method combined: the cloud accepts no more.
  const tags = [...new Set([...defaults.tags, ...config.tags])];
  if (tags.length > maxTags)
    tell(
      'warning',
      `expected at most ${maxTags} tags including those of the service, found ${tags.length}: the first ${maxTags} are used`,
    );
  return {
    key: `${resourceName} ${method} ${JSON.stringify(config.additional_params)}`,
    resource: resourceName,
    api,
    name: name.name,
    method,
    kind: captured?.kind ?? 'tabular',
    extraMs,
    hz: config.capture_frequency_hz,
    params: config.additional_params,
    tags: tags.slice(0, maxTags),
    directory: own === undefined ? defaults.directory : resolvePath(own),
    maxFileBytes: defaults.maxFileBytes,
    queueSize,
    bufferBytes,
  };
}
