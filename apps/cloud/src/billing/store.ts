/**
 * Tables of billing: what was used, who pays for it, at which prices, which invoices were issued, and how they were paid.
 *
 * Nothing here is changed or deleted with an organization: usage must be paid, and must stay explainable. `usage_hours` only grows; the
 * rows of an hour are final once the follower of the log has passed it and the hour has been sampled. Times are milliseconds since 1970
 * UTC.
 */
import type { UsageCostType } from '@platform/proto/platform/app/v1/billing';
import { type CheckedTable, checkedIn } from '../metadata/row-checks/checked-table.ts';
import type { Schema } from '../metadata/sqlite/writer-protocol.ts';

export interface BillingTables {
  /** What the payer used in an hour, in units of the meter. */
  usage_hours: {
    /** The organization that pays. */
    organization_id: string;
    /** When the hour (UTC) began. */
    hour: number;
    type: UsageCostType;
    quantity: number;
  };
  /** One row, id 1. Stored data and machines have been counted for all hours up to this one. */
  usage_samples: { id: number; hour: number };
  /** Append-only. Who pays for the usage of a location from an hour on; without a row, its organization does. */
  location_payers: { location_id: string; since_ms: number; organization_id: string; created_ms: number };
  /** Append-only. The latest version in effect applies. */
  price_lists: {
    /** The organization that bills others with this list. */
    organization_id: string;
    version: number;
    effective_ms: number;
    created_ms: number;
    /** JSON, as its owners wrote it. */
    document: string;
  };
  /** Append-only. Who bills an organization, and on which tier, from a time on; the latest entry in effect applies. */
  billing_accounts: {
    organization_id: string;
    /** 1, 2, … within the organization. */
    entry: number;
    since_ms: number;
    /** Null: no one bills it. */
    biller_id: string | null;
    /** Empty: no one bills it. */
    tier: string;
    /** Address for invoices; empty: none. */
    billing_email: string;
    created_ms: number;
  };
  /**
   * Finalized invoices and credit notes. Their content never changes; only the columns from `state` on do (invoices/states.ts). An invoice
   * that is not finalized does not exist.
   */
  invoices: {
    id: string;
    biller_id: string;
    /** The organization that owes it. */
    organization_id: string;
    /** From 1 and without gaps for each biller; invoices and credit notes share the sequence. */
    sequence: number;
    /** The number shown to people, such as INV-000001 or TEST-000001. */
    number: string;
    kind: 'charge' | 'month' | 'year' | 'credit_note';
    is_test: number;
    currency: string;
    /** This and the next two: minor units; negative on credit notes. */
    subtotal: number;
    tax: number;
    total: number;
    /** JSON: InvoiceDocument; everything that the PDF shows. */
    document: string;
    /** YYYY-MM; empty for charges and credit notes. */
    period: string;
    /** For a credit note: the invoice that it cancels. */
    credits_id: string | null;
    issued_ms: number;
    due_ms: number;
    state: 'open' | 'paid' | 'void';
    paid: number;
    paid_ms: number | null;
    failure: string;
    failure_ms: number | null;
    /** Number of reminders since the due date (invoices/dunning.ts). */
    dunning_step: number;
    /** Time of the last reminder; 0: never. */
    dunned_ms: number;
  };
  invoice_numbers: { biller_id: string; last: number };
  /** Attempts to pay an invoice: at most one per invoice is pending or has succeeded. */
  charges: {
    id: string;
    invoice_id: string;
    provider: string;
    /** The payment method at that time, in the form that the provider needs: JSON. */
    method: string;
    state: 'pending' | 'succeeded' | 'failed';
    minor: number;
    created_ms: number;
    finished_ms: number | null;
    failure: string;
    /** When the provider is next asked, ms. */
    next_ask_ms: number;
    /** 1: the organization gets no mail about it. */
    is_quiet: number;
    /** The provider's id of the attempt; empty: not known yet. */
    reference: string;
  };
  /** Set-ups of payment methods on a page of the provider (payments/payment-setups.ts). */
  payment_setups: {
    id: string;
    organization_id: string;
    provider: string;
    /** The provider's id of the set-up. */
    session: string;
    state: 'pending' | 'attached' | 'superseded' | 'expired';
    created_ms: number;
    /** When the provider is next asked, ms. */
    next_ask_ms: number;
    finished_ms: number | null;
  };
  /** Provider events that were handled, kept for 30 days: each is handled once. */
  payment_events: { provider: string; id: string; received_ms: number };
  /** Append-only. The lines of one transaction sum to 0; debits are positive. */
  ledger_lines: {
    biller_id: string;
    /** 1, 2, … within the biller. */
    line: number;
    transaction_id: string;
    account: 'receivable' | 'revenue' | 'tax' | 'cash';
    organization_id: string;
    invoice_id: string;
    currency: string;
    minor: number;
    at_ms: number;
    text: string;
    /** SHA-256 over the previous line and this one, hexadecimal: reveals changed and missing lines. */
    hash: string;
  };
  /** Charge requests: what a repeated one is compared with (payments/claim-charge.ts). */
  charge_requests: {
    organization_id: string;
    key: string;
    request: string;
    invoice_id: string;
    created_ms: number;
    /** When the answer was delivered; null: it was not, or nobody knows. */
    answered_ms: number | null;
    /** The call that took the row last, whose answer counts. */
    holder: string;
  };
  /** A period of an organization is billed once. */
  billed_periods: {
    organization_id: string;
    /** YYYY-MM of a month; year:YYYY-MM of a year. */
    period: string;
    biller_id: string;
    /** Null: nothing was owed. */
    invoice_id: string | null;
    created_ms: number;
  };
  /** Payments that the host administrator recorded. */
  billing_payments: { id: string; invoice_id: string; minor: number; reference: string; recorded_ms: number };
  /** The PDF of an invoice as first downloaded: later downloads get the same bytes. */
  invoice_pdfs: { invoice_id: string; pdf: Uint8Array };
  payment_methods: {
    organization_id: string;
    provider: string;
    brand: string;
    last_four: string;
    /** JSON for the provider; never a card number. */
    method: string;
    added_ms: number;
  };
}

/** Triggers, in the SQL of each store, that keep the ledger append-only and the content of invoices unchanged. */
const invoiceGuard: { readonly sqlite: readonly string[]; readonly postgres: readonly string[] } = {
  sqlite: [
    `create trigger ledger_lines_no_update before update on ledger_lines begin select raise(abort, 'ledger_lines is append-only'); end`,
    `create trigger ledger_lines_no_delete before delete on ledger_lines begin select raise(abort, 'ledger_lines is append-only'); end`,
    `create trigger invoices_no_delete before delete on invoices begin select raise(abort, 'invoices are not deleted'); end`,
    `create trigger invoices_final before update of id, biller_id, organization_id, sequence, number, kind, is_test, currency, subtotal, tax, total, document, period, credits_id, issued_ms, due_ms on invoices begin select raise(abort, 'a finalized invoice does not change'); end`,
  ],
  postgres: [
    `create function billing_refuse() returns trigger language plpgsql as $$ begin raise exception '% is append-only', tg_table_name; end $$`,
    `create trigger ledger_lines_no_change before update or delete or truncate on ledger_lines for each statement execute function billing_refuse()`,
    `create trigger invoices_no_delete before delete or truncate on invoices for each statement execute function billing_refuse()`,
    `create trigger invoices_final before update of id, biller_id, organization_id, sequence, number, kind, is_test, currency, subtotal, tax, total, document, period, credits_id, issued_ms, due_ms on invoices for each statement execute function billing_refuse()`,
  ],
};

const statements: readonly string[] = [
  // Without rowid, the rows are in the order of the key: a month of an organization is read from adjacent pages.
  'create table usage_hours (organization_id text not null, hour bigint not null, type integer not null, quantity bigint not null, row_check text, primary key (organization_id, hour, type)) without rowid',
  'create table usage_samples (id integer primary key, hour bigint not null)',
  'create table location_payers (location_id text not null, since_ms bigint not null, organization_id text not null, created_ms bigint not null, row_check text, primary key (location_id, since_ms, created_ms))',
  'create table price_lists (organization_id text not null, version integer not null, effective_ms bigint not null, created_ms bigint not null, document text not null, row_check text, primary key (organization_id, version))',
  'create table billing_accounts (organization_id text not null, entry integer not null, since_ms bigint not null, biller_id text, tier text not null, billing_email text not null, created_ms bigint not null, row_check text, primary key (organization_id, entry))',
  'create index billing_accounts_by_biller on billing_accounts (biller_id, organization_id)',
  'create table invoices (id text primary key, biller_id text not null, organization_id text not null, sequence bigint not null, number text not null, kind text not null, is_test integer not null, currency text not null, subtotal bigint not null, tax bigint not null, total bigint not null, document text not null, period text not null, credits_id text, issued_ms bigint not null, due_ms bigint not null, state text not null, paid bigint not null, paid_ms bigint, failure text not null, failure_ms bigint, dunning_step integer not null default 0, dunned_ms bigint not null default 0, row_check text, unique (biller_id, sequence))',
  'create index invoices_by_organization on invoices (organization_id, issued_ms)',
  "create index invoices_open on invoices (due_ms) where state = 'open'",
  'create table invoice_numbers (biller_id text primary key, last bigint not null, row_check text)',
  "create table charges (id text primary key, invoice_id text not null references invoices (id), provider text not null, method text not null, state text not null, minor bigint not null, created_ms bigint not null, finished_ms bigint, failure text not null, next_ask_ms bigint not null, is_quiet integer not null, reference text not null default '', row_check text)",
  "create unique index charges_once on charges (invoice_id) where state <> 'failed'",
  "create index charges_pending on charges (next_ask_ms) where state = 'pending'",
  'create table ledger_lines (biller_id text not null, line bigint not null, transaction_id text not null, account text not null, organization_id text not null, invoice_id text not null, currency text not null, minor bigint not null, at_ms bigint not null, text text not null, hash text not null, primary key (biller_id, line))',
  'create index ledger_lines_by_invoice on ledger_lines (invoice_id)',
  "create table charge_requests (organization_id text not null, key text not null, request text not null, invoice_id text not null, created_ms bigint not null, answered_ms bigint, holder text not null default '', row_check text, primary key (organization_id, key))",
  'create table billed_periods (organization_id text not null, period text not null, biller_id text not null, invoice_id text, created_ms bigint not null, row_check text, primary key (organization_id, period))',
  'create table billing_payments (id text primary key, invoice_id text not null references invoices (id), minor bigint not null, reference text not null, recorded_ms bigint not null, row_check text)',
  'create table payment_methods (organization_id text primary key, provider text not null, brand text not null, last_four text not null, method text not null, added_ms bigint not null, row_check text)',
  'create table invoice_pdfs (invoice_id text primary key references invoices (id), pdf blob not null, row_check text)',
  'create table payment_setups (id text primary key, organization_id text not null, provider text not null, session text not null unique, state text not null, created_ms bigint not null, next_ask_ms bigint not null, finished_ms bigint)',
  'create index payment_setups_by_organization on payment_setups (organization_id, created_ms)',
  "create index payment_setups_pending on payment_setups (next_ask_ms) where state = 'pending'",
  'create table payment_events (provider text not null, id text not null, received_ms bigint not null, primary key (provider, id))',
  'create index payment_events_by_time on payment_events (received_ms)',
];

const checked = checkedIn(statements);

/** Rows that decide what is owed. The lines of the ledger have a chain of hashes. */
export const invoices: CheckedTable = checked('invoices', 'invoice', { owner: 'organization_id' });

/** The bytes that are sent to the customer. */
export const invoicePdfs: CheckedTable = checked('invoice_pdfs', 'PDF of invoice', { owner: 'invoice_id' });

export const charges: CheckedTable = checked('charges', 'charge', { owner: 'invoice_id' });

export const chargeRequests: CheckedTable = checked('charge_requests', 'charge request of organization', {
  owner: 'organization_id',
});

/** A day of an organization is a set. */
export const usageHours: CheckedTable = checked('usage_hours', 'usage of organization', {
  isInKeyOrder: true,
  owner: 'organization_id',
  time: 'hour',
  usPerTime: 1_000,
});

export const billingSchema: Schema = {
  statements,
  sqliteOnly: invoiceGuard.sqlite,
  postgresOnly: invoiceGuard.postgres,
  checked: [
    invoices,
    charges,
    chargeRequests,
    usageHours,
    invoicePdfs,
    checked('billed_periods', 'billed period of organization', { owner: 'organization_id' }),
    checked('billing_payments', 'payment', { owner: 'invoice_id' }),
    checked('payment_methods', 'payment method of organization', { owner: 'organization_id' }),
    checked('billing_accounts', 'billing account of organization', { owner: 'organization_id' }),
    checked('price_lists', 'price list of organization', { owner: 'organization_id' }),
    checked('location_payers', 'payer of location', { owner: 'organization_id' }),
    checked('invoice_numbers', 'invoice numbers of organization', { owner: 'biller_id' }),
  ],
};
