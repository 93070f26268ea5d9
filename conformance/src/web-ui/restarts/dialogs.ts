/** Dialogs and forms of the web UI that make something: what is typed, how it is sent, and how many the cloud then has. */
import type { JsonObject } from '@bufbuild/protobuf';
import { AppService } from '@platform/proto/platform/app/v1/app';
import { FleetService } from '@platform/proto/platform/fleet/v1/fleet';
import type { Link } from '@platform/rpc/client';
import type { Page } from 'playwright-core';

export interface Place {
  readonly organizationId: string;
  readonly locationId: string;
  readonly machineId: string;
  readonly partId: string;
}

export interface Asked {
  readonly name: string;
  readonly path: (place: Place) => string;
  /** Opens the dialog and types. */
  readonly fill: (page: Page) => Promise<unknown>;
  readonly send: (page: Page) => Promise<unknown>;
  /** What was typed, as the page still shows it. */
  readonly typed: (page: Page) => Promise<string | null>;
  readonly expected: string;
  /** The call that makes it. */
  readonly call: RegExp;
  /** Sends again after an answer that was lost; default: as `send`. */
  readonly sendAgain?: (page: Page) => Promise<unknown>;
  /** Resolves when the page says that it is done. */
  readonly done: (page: Page) => Promise<unknown>;
  /** How many the cloud has. */
  readonly count: (link: Link, place: Place) => Promise<number>;
}

const press = (name: string) => (page: Page) => page.getByRole('button', { name, exact: true }).click();
const value = (label: string) => (page: Page) => page.getByLabel(label, { exact: true }).inputValue();
const organization =
  (path: string) =>
  ({ organizationId }: Place): string =>
    `/o/${organizationId}/${path}`;
const metadataCall = /AppService\/UpdateOrganizationMetadata$/;

async function metadata(link: Link, { organizationId }: Place, key: string): Promise<string> {
  const { data = {} } = await link.client(AppService).getOrganizationMetadata({ organizationId });
  return JSON.stringify(data[key] ?? {});
}
const occurrences = (text: string, of: string): number => text.split(of).length - 1;
async function configuration(link: Link, { partId }: Place): Promise<JsonObject> {
  const { document } = await link.client(FleetService).getConfigurationVersion({ partId });
  return JSON.parse(document || '{}');
}

const roleToAdd = (page: Page) => page.getByRole('dialog').locator('form').getByLabel(/^Role/);

export const dialogs: readonly Asked[] = [
  {
    name: 'connect a machine',
    path: organization('machines?add=1'),
    fill: (page) => page.getByLabel('Name', { exact: true }).fill('press-30'),
    ...{ send: press('Create machine'), typed: value('Name'), expected: 'press-30', call: /AppService\/NewRobot$/ },
    async sendAgain(page) {
      await press('Create machine')(page);
      await page.getByText('This location already has a machine called press-30').waitFor();
      await press('Connect that machine')(page);
    },
    done: (page) => page.getByRole('list', { name: 'Progress' }).waitFor(),
    async count(link, { locationId }) {
      const { robots } = await link.client(AppService).listRobots({ locationId });
      return robots.filter(({ name }) => name === 'press-30').length;
    },
  },
  {
    name: 'save a configuration',
    path: ({ organizationId, machineId }) => `/o/${organizationId}/m/${machineId}/configure`,
    async fill(page) {
      await press('Add …')(page);
      await page.getByRole('combobox', { name: 'What to add' }).fill('fake motor');
      await page.getByRole('option', { name: /^motor\s*fake/, selected: true }).waitFor();
      await page.keyboard.press('Enter');
      await press('Review changes')(page);
      await page.getByRole('region', { name: 'What saving does' }).waitFor();
    },
    async send(page) {
      const review = page.getByRole('button', { name: 'Review changes' });
      if ((await review.count()) > 0) await review.click();
      await press('Save version')(page);
    },
    typed: async (page) => `${await page.getByRole('article', { name: 'motor', exact: true }).count()} card`,
    expected: '1 card',
    call: /AppService\/UpdateRobotPart$/,
    done: (page) => page.getByText('Saved as version 2.').waitFor(),
    count: async (link, place) => occurrences(JSON.stringify(await configuration(link, place)), '"motor"'),
  },
  {
    name: 'new trigger',
    path: organization('triggers/edit'),
    async fill(page) {
      await page.getByLabel('Name', { exact: true }).fill('restarted');
      await page.getByLabel('Event').selectOption('part_offline');
    },
    ...{
      send: press('Save trigger'),
      typed: value('Name'),
      expected: 'restarted',
      call: /AppService\/UpdateRobotPart$/,
    },
    done: (page) => page.getByRole('link', { name: 'restarted', exact: true }).waitFor(),
    count: async (link, place) =>
      occurrences(JSON.stringify((await configuration(link, place))['triggers'] ?? []), '"restarted"'),
  },
  {
    name: 'new dashboard',
    path: organization('query'),
    async fill(page) {
      await press('Pin to dashboard')(page);
      await page.getByLabel('Title').fill('restarted chart');
      await page.getByLabel('Name of the new dashboard').fill('restarted dashboard');
    },
    ...{ send: press('Pin'), typed: value('Title'), expected: 'restarted chart', call: metadataCall },
    done: (page) => page.getByText('restarted chart is pinned.').waitFor(),
    async count(link, place) {
      const text = await metadata(link, place, 'dashboards');
      return Math.max(occurrences(text, '"restarted chart"'), occurrences(text, '"restarted dashboard"'));
    },
  },
  {
    name: 'save a query',
    path: organization('query'),
    async fill(page) {
      await press('Saved queries')(page);
      await page.getByLabel('Save the query on the page as').fill('restarted query');
    },
    send: (page) => page.getByRole('button', { name: /^(Save query|Replace)$/ }).click(),
    ...{ typed: value('Save the query on the page as'), expected: 'restarted query', call: metadataCall },
    done: (page) => page.getByText('restarted query is saved.').waitFor(),
    count: async (link, { organizationId }) => {
      const { data = {} } = await link.client(AppService).getOrganizationMetadata({ organizationId });
      return occurrences(JSON.stringify({ ...data, dashboards: {} }), '"restarted query"');
    },
  },
  {
    name: 'invite a member',
    path: organization('settings'),
    fill: (page) => page.getByLabel('E-mail', { exact: true }).fill('eve@example.com'),
    ...{ send: press('Invite'), typed: value('E-mail'), expected: 'eve@example.com' },
    call: /AppService\/CreateOrganizationInvite$/,
    done: (page) => page.getByText('Pass on this link').waitFor(),
    async count(link, { organizationId }) {
      const { invites } = await link.client(AppService).listOrganizationMembers({ organizationId });
      return invites.filter(({ email }) => email === 'eve@example.com').length;
    },
  },
  {
    name: 'share with a role',
    path: organization('settings'),
    async fill(page) {
      await press('Roles of ada@example.com')(page);
      await roleToAdd(page).selectOption('Owner');
    },
    ...{ send: press('Add role'), expected: 'owner', call: /AppService\/UpdateOrganizationInviteAuthorizations$/ },
    typed: (page) => roleToAdd(page).inputValue(),
    done: (page) => page.getByRole('dialog').getByLabel('Role on the organization').first().waitFor(),
    async count(link, { organizationId }) {
      const { invites } = await link.client(AppService).listOrganizationMembers({ organizationId });
      const { authorizations = [] } = invites.find(({ email }) => email === 'ada@example.com') ?? {};
      return authorizations.filter(({ authorizationId }) => authorizationId === 'organization_owner').length;
    },
  },
  {
    name: 'create a key',
    path: organization('settings?show=keys'),
    fill: (page) => page.getByLabel('Name', { exact: true }).fill('restarted key'),
    ...{ send: press('Create key'), typed: value('Name'), expected: 'restarted key' },
    call: /FleetService\/CreateExpiringKey$/,
    // Its secret is lost with the answer: the list has the key, and rotating it gives a new one.
    sendAgain: (page) => page.getByRole('button', { name: 'Rotate restarted key' }).click(),
    done: (page) => page.getByText('Copy the key now').waitFor(),
    async count(link, { organizationId }) {
      const { keys } = await link.client(FleetService).listKeyDetails({ organizationId });
      return keys.filter(({ name }) => name === 'restarted key').length;
    },
  },
];
