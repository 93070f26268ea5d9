/** Refuses a fragment with errors, naming all of them with their JSON paths; warnings are allowed. */
import type { JsonObject as ProtobufJson } from '@bufbuild/protobuf';
import { invalidArgument, type Problem } from '@platform/base';
import { type FragmentProblem, isObject } from '@platform/machine-config/fragments';
import { parse } from '@platform/machine-config/parse';
import type { JsonObject } from '@platform/machine-config/schema';
import type { TriggerProblems } from '../machines/configuration/check-document.ts';
import { requireAtMost } from '../text-rules/require-at-most.ts';
import { requireReadableJson } from '../wire/readable-json.ts';
import { answerBytes, structBytes } from '../wire/struct-bytes.ts';
import { resolveWith } from './resolve-for.ts';
import { type FragmentSource, type Rights, rightsOf } from './source.ts';
import type { Visibility } from './store.ts';

export const maxBytes: number = 1024 * 1024;
const shownProblems = 20;

export interface Candidate {
  readonly id: string;
  readonly organizationId: string;
  readonly visibility: Visibility;
  readonly config: JsonObject;
}

/** @returns the warnings. @throws invalid_argument */
export async function checkFragment(
  source: FragmentSource,
  candidate: Candidate,
  triggerProblems: TriggerProblems,
): Promise<readonly string[]> {
  const { id, config, organizationId, visibility } = candidate;
  requireSize(config);
  const probe = (rights: Rights) =>
    resolveWith({ fragments: [{ id }] }, async (asked, version) =>
      asked === id ? { revision: '0', config } : await source.find(rights, asked, version),
    );
  const { document, problems } = await probe(rightsOf(organizationId));
  const missing = problems.flatMap(({ fault, at, fragmentId }) =>
    fault === 'no_value' && fragmentId === id && at !== undefined ? [at] : [],
  );
  const findings: Problem[] = [
    ...problems.flatMap((problem) => importFinding(problem, id)),
    ...parse(document).problems.flatMap((problem) => schemaFinding(problem, missing)),
    ...triggerProblems(document),
  ];
  if (visibility !== 'private') {
    const others = (await probe(rightsOf(null))).problems.filter(({ fault }) => fault === 'no_access');
    for (const { message } of others)
      findings.push({ path: 'fragments', level: 'error', message: `in a ${visibility} fragment: ${message}` });
    for (const finding of credentialFindings(document)) findings.push(finding);
  }
  const textsOf = (level: string): string[] => [
    ...new Set(findings.filter((each) => each.level === level).map(({ path, message }) => `${path}: ${message}`)),
  ];
  const errors = textsOf('error');
  if (errors.length === 0) return textsOf('warning');
  const more = errors.length > shownProblems ? `\n… and ${errors.length - shownProblems} more` : '';
  throw invalidArgument(
    `fragment: ${errors.length} ${errors.length === 1 ? 'error' : 'errors'}, nothing was saved\n${errors.slice(0, shownProblems).join('\n')}${more}`,
  );
}

function requireSize(config: JsonObject): void {
  requireReadableJson(config, 'fragment');
  const bytes = Buffer.byteLength(JSON.stringify(config));
  requireAtMost('fragment', maxBytes, bytes, ' bytes of JSON');
  // A revision in the history contains its configuration twice.
  const carried = structBytes(config as ProtobufJson);
  if (carried > answerBytes / 2 - 2_048)
    throw invalidArgument(
      `fragment: expected one that fits into the messages of public clients (at most ${answerBytes / 2 - 2_048} bytes in their encoding), found ${carried} (${bytes} of JSON)`,
    );
}

/** The importer sets the values of variables, so a missing value is not an error here. */
function importFinding(problem: FragmentProblem, id: string): Problem[] {
  const { fault, fragmentId, message, path } = problem;
  if (fault === 'no_value') return fragmentId === id ? [] : [{ path: 'fragments', level: 'warning', message }];
  // If the problem is in the fragment itself, use the path inside it.
  const head = `in fragment ${id}, at `;
  const [inside = ''] = message.startsWith(head) ? message.slice(head.length).split(': ', 1) : [];
  if (inside !== '')
    return [{ path: inside, level: problem.level, message: message.slice(head.length + inside.length + 2) }];
  return [{ path: path.startsWith('fragments[0]') ? 'fragments' : path, level: problem.level, message }];
}

function schemaFinding(problem: Problem, missing: readonly string[]): Problem[] {
  const { path } = problem;
  const within = (inner: string, outer: string): boolean =>
    inner === outer || inner.startsWith(`${outer}.`) || inner.startsWith(`${outer}[`);
  if (missing.some((at) => within(path, at) || within(at, path))) return [];
  // The machine may have the data manager, and the resource that an entry depends on or captures.
  if (/\.capture_methods$/.test(path)) return [];
  if (/\.(depends_on\[\d+\]|capture_methods\[\d+\]\.name)$/.test(path)) return [{ ...problem, level: 'warning' }];
  return [problem];
}

/** Anyone can read a public fragment, so it must not contain passwords for webhooks. */
function credentialFindings(document: JsonObject): Problem[] {
  const { triggers } = document;
  if (!Array.isArray(triggers)) return [];
  return triggers.flatMap((trigger, index): Problem[] => {
    const notifications = isObject(trigger) ? trigger['notifications'] : undefined;
    const list = Array.isArray(notifications) ? notifications : [notifications];
    if (!list.some((each) => isObject(each) && each['auth'] !== undefined && each['auth'] !== null)) return [];
    const message = 'expected no "auth" in a fragment that others can read, found one: make the fragment private';
    return [{ path: `triggers[${index}].notifications`, level: 'error', message }];
  });
}
