/**
 * `conditional_data_ingested`: uploads of one component and method with a reading that meets conditions (D18, D20, D21). With one of the
 * keys that give conditions states, it reports each change of state instead (alarm-rule.ts).
 */
import type { Steps } from '@platform/base';
import {
  type CaptureMethod,
  compileCondition,
  isCapturedBy,
  type JsonObject as JsonDocument,
} from '@platform/conditions';
import { captureMethodsOf } from '@platform/machine-config/capture-methods';
import type { ConfiguredResource } from '../../machines/configuration/triggers-of.ts';
import type { TriggerEvent } from '../../outbox/event.ts';
import { compileKeys } from '../../reading-codec/key-filter.ts';
import type { Document } from '../../reading-codec/read-document.ts';
import type { UploadInput } from '../input.ts';

import { type JsonObject, shown } from '../parsing/json.ts';
import type { Problems } from '../parsing/problems.ts';
import type { RuleStep, StoredNeeds, TriggerEventRule } from '../trigger.ts';

import { dataOf, documentOf, findReading, isEmpty } from '../upload-data.ts';
import { absenceRule, alarmRule } from './alarm-rule.ts';
import type { TriggerKind } from './kind.ts';

const type = 'conditional_data_ingested';

export const conditionalData: TriggerKind = { type, keys: ['conditional'], parse };

/** What the rules of this kind share. */
export interface ConditionalRule {
  readonly type: string;
  /** The `conditional` object as configured. */
  readonly configured: unknown;
  readonly method: CaptureMethod;
  /** Whether an upload belongs to the component and method, and some of it was stored. */
  readonly concerns: (upload: UploadInput) => boolean;
  readonly stored: StoredNeeds;
}

function parse(
  { conditional: value }: JsonObject,
  resources: readonly ConfiguredResource[],
  eventPath: string,
  problems: Problems,
): TriggerEventRule | undefined {
  const path = `${eventPath}.conditional`;
  const condition = compileCondition(value);
  for (const problem of condition.problems) {
    const at = problem.path === '' ? path : `${path}.${problem.path}`;
    if (problem.level === 'error') problems.error(at, problem.message);
    else problems.warn(at, problem.message);
  }
  const method = condition.captureMethod;
  if (method === undefined) return undefined;
  checkMethod(method, resources, `${path}.data_capture_method`, problems);
  const { alarm, hasTests } = condition;
  const meets = (document: Document): boolean => condition.matches(document as JsonDocument);
  const keys = condition.keys && compileKeys(condition.keys);
  const concerns = (upload: UploadInput): boolean => isCapturedBy(method, upload.metadata) && !isEmpty(upload);
  const { prefilter: only } = condition;
  const stored: StoredNeeds = {
    areReadings: true,
    methodNames: spellingsOf(method),
    keys: hasTests ? condition.keys : 'none',
    ...(only && { only }),
  };
  const common: ConditionalRule = { type, configured: value, method, concerns, stored };
  if (alarm !== undefined && alarm.absentMs > 0)
    return absenceRule(common, alarm.absentMs, function* (upload) {
      return !hasTests || (yield* findReading(upload, meets, keys)) !== undefined;
    });
  if (alarm !== undefined) return alarmRule(common, alarm, meets, keys);
  return {
    type,
    uploads: { componentName: method.componentName },
    stored,
    *next(state, input): Steps<RuleStep> {
      const none = { state, occurrences: [] };
      if (input.kind !== 'upload' || !concerns(input)) return none;
      // Without any eval every upload fires, including binary ones (D20).
      const found = hasTests ? yield* findReading(input, meets, keys) : documentOf(input, 0);
      if (hasTests && found === undefined) return none;
      const { position, atMs, place } = input;
      const reason = hasTests ? 'a reading met the conditions' : `data of ${method.componentName} was synced`;
      const event = (): TriggerEvent => ({ type, place, data: dataOf(input, found), condition: value });
      return { state, occurrences: [{ cause: [position], atMs, reason, event }] };
    },
  };
}

/** The names under which a method may be stored (`isCapturedBy`). */
function spellingsOf({ method }: CaptureMethod): readonly string[] {
  const bare = /^Get[A-Z]/.test(method) ? method.slice(3) : method;
  return [bare, `Get${bare}`];
}

/**
 * A method that a component cannot have is an error. A component missing from the configuration may come from a fragment or a module: it is
 * checked once it exists.
 */
function checkMethod(
  method: CaptureMethod,
  resources: readonly ConfiguredResource[],
  path: string,
  problems: Problems,
): void {
  const { componentType, componentName } = method;
  const resource = resources.find(({ name }) => name === componentName);
  if (resource === undefined) {
    problems.warn(
      path,
      `expected the name of a component or service, found ${shown(componentName)}; if it comes from a fragment or module, the trigger works once it exists`,
    );
    return;
  }
  const { api } = resource;
  if (api === undefined) return;
  const short = api.split(':').at(-1);
  if (componentType !== api && componentType !== short) {
    problems.error(
      path,
      `expected ${short}:${componentName}, because its API is ${api}, found ${shown(componentType)}`,
    );
    return;
  }
  const methods = captureMethodsOf(api).map(({ name }) => name);
  const bare = (name: string): string => name.replace(/^Get(?=[A-Z])/, '');
  if (!methods.some((name) => bare(name) === bare(method.method)))
    problems.error(
      path,
      `expected one of the methods ${methods.join(', ')} of ${short}, found ${shown(method.method)}`,
    );
}
