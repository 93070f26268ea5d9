/** Forms of the web UI: what is typed, how it is sent, and where it must stay when the cloud refuses it. */
import type { Page } from 'playwright-core';
import type { CloudProcess } from '../../start-cloud.ts';

export interface RefusedForm {
  readonly name: string;
  readonly path: (cloud: CloudProcess) => string;
  /** The call that is refused. */
  readonly call: RegExp;
  readonly fill: (page: Page) => Promise<unknown>;
  readonly send: (page: Page) => Promise<unknown>;
  /** The typed text, as the page still shows it. */
  readonly typed: (page: Page) => Promise<string | null>;
  readonly expected: string;
  /** Answers that this form handles differently; other tests cover them. */
  readonly but?: readonly string[];
}

const press = (name: string | RegExp) => (page: Page) =>
  page.getByRole('button', typeof name === 'string' ? { name, exact: true } : { name }).click();
const value = (label: string) => (page: Page) => page.getByLabel(label, { exact: true }).inputValue();
const organization = (path: string) => (cloud: CloudProcess) => `/o/${cloud.organizationId}/${path}`;
const machine = (path: string) => (cloud: CloudProcess) => `/o/${cloud.organizationId}/m/${cloud.machineId}${path}`;

async function replaceText(page: Page, editor: string, text: string): Promise<void> {
  await page.getByRole('textbox', { name: editor }).click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(text);
}
const textIn = (editor: string) => (page: Page) => page.getByRole('textbox', { name: editor }).textContent();

export const refusedForms: readonly RefusedForm[] = [
  {
    name: 'connect a machine',
    ...{ path: organization('machines?add=1'), call: /AppService\/NewRobot$/ },
    fill: (page) => page.getByLabel('Name', { exact: true }).fill('press-8'),
    ...{ send: press('Create machine'), typed: value('Name'), expected: 'press-8' },
  },
  {
    name: 'query',
    ...{ path: organization('query'), call: /\/api\/query$/ },
    fill: (page) => replaceText(page, 'Query', '[{"$count":"kept"}]'),
    ...{ send: press(/^Run/), typed: textIn('Query'), expected: '[{"$count":"kept"}]' },
  },
  {
    name: 'save a query',
    ...{ path: organization('query'), call: /AppService\/UpdateOrganizationMetadata$/ },
    fill: async (page) => {
      await press('Saved queries')(page);
      await page.getByLabel('Save the query on the page as').fill('kept query');
    },
    ...{ send: press('Save query'), typed: value('Save the query on the page as'), expected: 'kept query' },
  },
  {
    name: 'pin to a dashboard',
    ...{ path: organization('query'), call: /AppService\/UpdateOrganizationMetadata$/ },
    fill: async (page) => {
      await press('Pin to dashboard')(page);
      await page.getByLabel('Title', { exact: true }).fill('kept chart');
    },
    ...{ send: press('Pin'), typed: value('Title'), expected: 'kept chart' },
  },
  {
    name: 'trigger',
    ...{ path: organization('triggers/edit'), call: /AppService\/UpdateRobotPart$/ },
    fill: (page) => page.getByLabel('Name', { exact: true }).fill('kept-trigger'),
    ...{ send: press('Save trigger'), typed: value('Name'), expected: 'kept-trigger' },
  },
  {
    name: 'resend failed deliveries',
    ...{ path: organization('deliveries'), call: /TriggerService\/ReplayDeliveries$/ },
    fill: async (page) => {
      await press('Resend failed deliveries')(page);
      await page.getByLabel('Trigger', { exact: true }).fill('kept');
    },
    ...{ send: press('Count'), typed: value('Trigger'), expected: 'kept' },
  },
  {
    name: 'charge',
    ...{ path: organization('billing'), call: /BillingService\/CreateInvoiceAndChargeImmediately$/ },
    fill: async (page) => {
      await press('Charge organization')(page);
      await page.getByLabel(/^Amount/).fill('12.50');
      await press('Review charge')(page);
    },
    // If the outcome of a charge is unknown, the button asks again.
    send: (page) => page.getByRole('button', { name: /^(Charge now|Ask again)$/ }).click(),
    typed: (page) => page.getByRole('dialog', { name: 'Charge this organization' }).getByText('12.50').textContent(),
    expected: '12.50',
  },
  {
    name: 'invite a member',
    ...{ path: organization('settings'), call: /AppService\/CreateOrganizationInvite$/ },
    fill: (page) => page.getByLabel('E-mail', { exact: true }).fill('kept@example.com'),
    ...{ send: press('Invite'), typed: value('E-mail'), expected: 'kept@example.com' },
  },
  {
    name: 'create a key',
    ...{ path: organization('settings?show=keys'), call: /FleetService\/CreateExpiringKey$/ },
    fill: (page) => page.getByLabel('Name', { exact: true }).fill('kept key'),
    ...{ send: press('Create key'), typed: value('Name'), expected: 'kept key' },
  },
  {
    name: 'rename the organization',
    ...{ path: organization('settings?show=organization'), call: /AppService\/UpdateOrganization$/ },
    fill: (page) => page.getByLabel('Name of the organization').fill('kept name'),
    ...{ send: press('Save'), typed: value('Name of the organization'), expected: 'kept name' },
  },
  {
    name: 'push credentials',
    ...{ path: organization('settings?show=organization'), call: /AppService\/SetFirebaseConfig$/ },
    fill: async (page) => {
      await page.getByLabel('Id of the app').fill('com.example.kept');
      await page.getByLabel(/^Service account/).fill('{}');
    },
    ...{ send: press('Set credentials'), typed: value('Id of the app'), expected: 'com.example.kept' },
  },
  {
    name: 'configuration',
    ...{ path: machine('/configure'), call: /AppService\/UpdateRobotPart$/ },
    fill: (page) => replaceText(page, 'Configuration in JSON', '{"kept":1}'),
    send: async (page) => {
      await press('Review changes')(page);
      await press('Save version')(page);
    },
    ...{ typed: textIn('Configuration in JSON'), expected: '{"kept":1}' },
    // Someone else has saved in the meantime: their changes are merged.
    but: ['aborted'],
  },
  {
    name: 'command to a component',
    ...{ path: machine('/control'), call: /\/DoCommand$/ },
    fill: async (page) => {
      const host = page.getByRole('region', { name: 'host' });
      await host.getByRole('button', { name: 'Do command' }).click();
      await host.getByLabel('Command in JSON').fill('{"kept":1}');
    },
    ...{ send: press('Send'), typed: value('Command in JSON'), expected: '{"kept":1}' },
  },
];
