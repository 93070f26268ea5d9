/**
 * Every action on the account tree and the role that it needs: the one table of rights. What is not here is not allowed.
 *
 * `glimpse`: a role on it, above it, or on anything beneath it. `member`: the same without what is
 * shared, and the parts of an organization. `operator` and `owner`: that role on it or above it.
 * `self`: also with the part's own credentials. The rules in words: docs/specs/access.md.
 */

export interface ActionRule {
  readonly on: TargetKind;
  readonly needs: 'glimpse' | 'member' | 'operator' | 'owner';
  readonly self?: true;
}

export type TargetKind = 'organization' | 'location' | 'machine' | 'part';

export type Action =
  | 'organization.see'
  | 'organization.read'
  | 'organization.manage'
  | 'package.read'
  | 'package.manage'
  | 'location.see'
  | 'location.read'
  | 'location.manage'
  | 'machine.read'
  | 'machine.manage'
  | 'part.read'
  | 'part.act'
  | 'part.secrets'
  | 'part.report'
  | 'part.manage';

export const actions: Readonly<Record<Action, ActionRule>> = {
  /** Its name, logo and support address; lists in it are filtered. */
  'organization.see': { on: 'organization', needs: 'glimpse' },
  /** Members, invitations, metadata, private fragments. */
  'organization.read': { on: 'organization', needs: 'operator' },
  /** Settings, members, billing, push, fragments, audit; creating top-level locations; deleting it. */
  'organization.manage': { on: 'organization', needs: 'owner' },

  /** Packages of an organization: list, get, download. Machines do this with their own credentials or keys. */
  'package.read': { on: 'organization', needs: 'member' },
  /** Upload and delete packages: machines run what is in them. */
  'package.manage': { on: 'organization', needs: 'owner' },

  /** Its name and place in the tree. */
  'location.see': { on: 'location', needs: 'glimpse' },
  'location.read': { on: 'location', needs: 'operator' },
  /** Rename, move, delete, share, metadata, secrets, roles; creating machines and locations in it. */
  'location.manage': { on: 'location', needs: 'owner' },

  'machine.read': { on: 'machine', needs: 'operator' },
  /** Rename, move, delete, metadata, parts, keys and roles. */
  'machine.manage': { on: 'machine', needs: 'owner' },

  /** Status, configuration without secrets, history, logs. */
  'part.read': { on: 'part', needs: 'operator', self: true },
  /** What a machine-server does: fetch its configuration, upload, log. */
  'part.act': { on: 'part', needs: 'operator', self: true },
  /** Secrets in answers, certificates (D6). */
  'part.secrets': { on: 'part', needs: 'owner', self: true },
  /** What a part says about itself: its status. */
  'part.report': { on: 'part', needs: 'owner', self: true },
  /** Save its configuration, rename, delete, restart, make main, metadata, secrets. */
  'part.manage': { on: 'part', needs: 'owner' },
};
