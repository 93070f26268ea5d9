/** Who is signed in, and what they may see. */
import { AnswerError } from './answer-error.ts';
import { forgetSession, reach } from './reach.ts';

export interface Role {
  readonly role: string;
  readonly organizationId: string;
  readonly organizationName: string;
  /** Set where the role is only on a location or a machine. */
  readonly locationId?: string;
  readonly machineId?: string;
}

export interface Person {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly roles: readonly Role[];
  readonly cloudUrl: string;
}

export const session = $state<{ person: Person | undefined; ended: boolean }>({ person: undefined, ended: false });

/**
 * Call it when the cloud reports that no one is signed in: pages keep what was typed, and a dialog asks the person to sign in. A page that
 * shows nothing yet goes to the sign-in, which returns to it.
 */
export function endSession(): void {
  session.ended = true;
  if (session.person === undefined)
    location.replace(`/sign-in?next=${encodeURIComponent(location.pathname + location.search)}`);
}

/** @throws Error with the cloud's message */
export async function loadPerson(): Promise<Person> {
  const answer = await ask('/api/whoami');
  const person: Person = await answer.json();
  session.person = person;
  session.ended = false;
  return person;
}

export async function signOut(): Promise<void> {
  await reach('/sign-out', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' });
  forgetSession();
  location.assign('/sign-in');
}

/** Asks a route of the cloud that answers JSON. @throws AnswerError */
export async function ask(path: string, init?: RequestInit): Promise<Response> {
  const answer = await reach(path, init);
  if (answer.status === 401) endSession();
  if (!answer.ok) throw new AnswerError(await messageOf(answer), answer.status);
  return answer;
}

/** As `ask`, with a body as JSON. */
export function askWith(path: string, body: object, { headers, ...init }: RequestInit = {}): Promise<Response> {
  const json = { 'content-type': 'application/json', ...headers };
  return ask(path, { ...init, method: 'POST', headers: json, body: JSON.stringify(body) });
}

async function messageOf(answer: Response): Promise<string> {
  const text = await answer.text();
  try {
    return (JSON.parse(text) as { message?: string }).message ?? text;
  } catch {
    return `The cloud answered ${answer.status} without an explanation.`;
  }
}

const rolesIn = (organizationId: string): readonly Role[] =>
  (session.person?.roles ?? []).filter((one) => one.organizationId === organizationId);
const isWhole = ({ locationId, machineId }: Role): boolean => locationId === undefined && machineId === undefined;

/** Whether the person owns the organization, and so may change what all its members share. */
export function isOwner(organizationId: string): boolean {
  return rolesIn(organizationId).some((one) => one.role === 'owner' && isWhole(one));
}

/** Whether the person owns the organization, or a location or machine in it. */
export function ownsSomethingIn(organizationId: string): boolean {
  return rolesIn(organizationId).some(({ role }) => role === 'owner');
}

/** Whether the person owns the machine. Owners of a location count: it may contain the machine. */
export function ownsMachine(organizationId: string, id: string): boolean {
  return rolesIn(organizationId).some(
    ({ role, machineId }) => role === 'owner' && (machineId === undefined || machineId === id),
  );
}

/** Whether the person has a role on the whole organization, and so reads what belongs to none of its machines, such as dashboards. */
export function readsWhole(organizationId: string): boolean {
  return rolesIn(organizationId).some(isWhole);
}

/** Organizations of the person, each once, by name. */
export function organizationsOf(person: Person): readonly { readonly id: string; readonly name: string }[] {
  const named = new Map(person.roles.map((role) => [role.organizationId, role.organizationName]));
  return [...named].map(([id, name]) => ({ id, name })).toSorted((a, b) => a.name.localeCompare(b.name));
}
