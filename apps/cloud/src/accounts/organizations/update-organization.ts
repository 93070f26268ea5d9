/** Changes the settings of an organization: applies either all given changes or none. */
import { toJsonString } from '@bufbuild/protobuf';
import { alreadyExists, failedPrecondition, invalidArgument } from '@platform/base';
import {
  type AllowedLoginMethods,
  AllowedLoginMethodsSchema,
  type FragmentImportList,
  FragmentImportListSchema,
  LoginMethod,
} from '@platform/proto/platform/app/v1/app';
import { audit, type Caller } from '../../access/audit.ts';
import { notVisible, requireVisible } from '../../access/principal.ts';
import type { Database } from '../../metadata/tables.ts';
import { checkedName } from '../../text-rules/checked-name.ts';
import { checkedNamespace } from '../../text-rules/checked-namespace.ts';
import { checkedText } from '../../text-rules/checked-text.ts';
import { requireAtMost } from '../../text-rules/require-at-most.ts';
import type { AccountsDeps } from '../accounts-deps.ts';
import type { OrganizationRow } from '../tree.ts';

const maxDefaultFragments = 50;
const maxFragmentImportsBytes = 64 * 1024;
const loginMethods: ReadonlySet<number> = new Set(
  Object.values(LoginMethod).filter((method) => method !== LoginMethod.UNSPECIFIED),
);

/** Absent fields do not change; an empty region or cid, or an empty list, clears the setting. */
export interface OrganizationUpdate {
  readonly name?: string | undefined;
  readonly publicNamespace?: string | undefined;
  readonly region?: string | undefined;
  readonly cid?: string | undefined;
  readonly defaultFragments?: FragmentImportList | undefined;
  readonly allowedLoginMethods?: AllowedLoginMethods | undefined;
}

type Columns = Partial<
  Pick<OrganizationRow, 'name' | 'public_namespace' | 'default_region' | 'cid' | 'default_fragments' | 'login_methods'>
>;

/**
 * The caller must own the organization.
 *
 * @throws invalid_argument; already_exists for another organization's namespace; failed_precondition if it already has a different
 * namespace
 */
export async function updateOrganization(
  deps: AccountsDeps,
  by: Caller,
  organizationId: string,
  update: OrganizationUpdate,
): Promise<OrganizationRow> {
  const { defaultFragments, allowedLoginMethods } = update;
  const columns: Columns = {
    ...(update.name === undefined ? {} : { name: checkedName(update.name) }),
    ...(update.publicNamespace === undefined ? {} : { public_namespace: checkedNamespace(update.publicNamespace) }),
    ...(update.region === undefined ? {} : { default_region: checkedText(update.region, 'region', 64) }),
    ...(update.cid === undefined ? {} : { cid: checkedText(update.cid, 'cid', 200) || null }),
    ...(defaultFragments === undefined ? {} : { default_fragments: await fragmentsColumn(deps, by, defaultFragments) }),
    ...(allowedLoginMethods === undefined ? {} : { login_methods: loginMethodsColumn(allowedLoginMethods) }),
  };
  return change(deps, by, 'AppService.UpdateOrganization', organizationId, columns, async (row) => {
    const asked = columns.public_namespace;
    if (asked === undefined || row.public_namespace === null || row.public_namespace === asked) return;
    throw failedPrecondition(
      `organization ${row.id}: expected none or the namespace that it has ("${row.public_namespace}"), found "${asked}": names that others use depend on it; change it with UpdateOrganizationNamespace`,
    );
  });
}

/** Sets or renames the namespace. The caller must own the organization. @throws invalid_argument, already_exists */
export async function renameNamespace(
  deps: AccountsDeps,
  by: Caller,
  organizationId: string,
  namespace: string,
): Promise<OrganizationRow> {
  const columns = { public_namespace: checkedNamespace(namespace) };
  return change(deps, by, 'AppService.UpdateOrganizationNamespace', organizationId, columns, async () => {});
}

/** The organization that has a namespace. */
export async function holderOfNamespace(db: Database, namespace: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('organizations')
    .select('id')
    .where('public_namespace', '=', namespace)
    .executeTakeFirst();
  return row?.id;
}

async function change(
  deps: AccountsDeps,
  by: Caller,
  action: string,
  organizationId: string,
  columns: Columns,
  check: (row: OrganizationRow) => Promise<void>,
): Promise<OrganizationRow> {
  return deps.tree.change(async (trx, changed) => {
    const before = requireVisible(deps.tree.organization(organizationId), 'organization', organizationId);
    await check(before);
    if (typeof columns.public_namespace === 'string') {
      const holder = await holderOfNamespace(trx, columns.public_namespace);
      if (holder !== undefined && holder !== organizationId)
        throw alreadyExists(
          `public_namespace: expected an unused one, found "${columns.public_namespace}", which another organization uses`,
        );
    }
    if (Object.keys(columns).length === 0) return before;
    const row = await trx
      .updateTable('organizations')
      .set(columns)
      .where('id', '=', organizationId)
      .returningAll()
      .executeTakeFirstOrThrow();
    await audit(trx, by, deps.clock.now(), action, ['organization', organizationId, organizationId], columns);
    changed.organization(row);
    return row;
  });
}

async function fragmentsColumn(deps: AccountsDeps, by: Caller, list: FragmentImportList): Promise<string | null> {
  const { fragments } = list;
  requireAtMost('default_fragments', maxDefaultFragments, fragments.length);
  for (const [index, { fragmentId }] of fragments.entries()) {
    if (fragments.findIndex((other) => other.fragmentId === fragmentId) !== index)
      throw invalidArgument(
        `default_fragments.fragments[${index}]: expected each fragment once, found ${JSON.stringify(fragmentId.slice(0, 64))} again`,
      );
    if (!(await deps.seesFragment(by.principal, fragmentId))) throw notVisible('fragment', fragmentId);
  }
  const text = toJsonString(FragmentImportListSchema, list);
  requireAtMost('default_fragments', maxFragmentImportsBytes, Buffer.byteLength(text), ' bytes with their variables');
  return fragments.length === 0 ? null : text;
}

function loginMethodsColumn(list: AllowedLoginMethods): string | null {
  const known = list.methods.filter((method) => loginMethods.has(method));
  if (known.length !== list.methods.length)
    throw invalidArgument(
      `allowed_login_methods: expected methods that the API knows, found ${JSON.stringify(list.methods.slice(0, 20))}`,
    );
  return known.length === 0 ? null : toJsonString(AllowedLoginMethodsSchema, { ...list, methods: [...new Set(known)] });
}
