/**
 * Every action on the account tree and the role that it needs: the only table of rights. An action that is not listed is not allowed.
 *
 * `sees`: a role on the target, above it, or on anything beneath it. `member`: like `sees`, but without roles that come from sharing,
 * and including the parts of the organization. `operator` and `owner`: that role on the target or above it. `self`: the part's own
 * credentials are sufficient, too. The full rules: docs/specs/access.md.
 */

export interface ActionRule {
  readonly on: TargetKind;
  readonly needs: 'sees' | 'member' | 'operator' | 'owner';
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
  | 'part.control'
  | 'part.triggers'
  | 'part.manage';

export const actions: Readonly<Record<Action, ActionRule>> = {
  /** Name, logo and support address; lists within the organization are filtered. */
  'organization.see': { on: 'organization', needs: 'sees' },
  /** Members, invitations, metadata, private fragments. */
  'organization.read': { on: 'organization', needs: 'operator' },
  /** Settings, members, billing, push, fragments, audit; creating top-level locations; deleting the organization. */
  'organization.manage': { on: 'organization', needs: 'owner' },

  /** List, get and download packages of an organization. Machines do this with their own credentials or keys. */
  'package.read': { on: 'organization', needs: 'member' },
  /** Upload and delete packages: machines run their contents. */
  'package.manage': { on: 'organization', needs: 'owner' },

  /** Name and place in the tree. */
  'location.see': { on: 'location', needs: 'sees' },
  'location.read': { on: 'location', needs: 'operator' },
  /** Rename, move, delete, share, metadata, secrets, roles; creating machines and locations in it. */
  'location.manage': { on: 'location', needs: 'owner' },

  'machine.read': { on: 'machine', needs: 'operator' },
  /** Rename, move, delete, metadata, parts, keys and roles. */
  'machine.manage': { on: 'machine', needs: 'owner' },

  /** Status, configuration without secrets, history, logs. */
  'part.read': { on: 'part', needs: 'operator', self: true },
  /** The actions of a machine-server: fetch its configuration, upload, write logs. */
  'part.act': { on: 'part', needs: 'operator', self: true },
  /** Read secrets in answers, and certificates (D6). */
  'part.secrets': { on: 'part', needs: 'owner', self: true },
  /** Report the part's own status. */
  'part.report': { on: 'part', needs: 'owner', self: true },
  /** Call its resources through the cloud, to read and to move; resources that run programs on the computer need `part.manage`. */
  'part.control': { on: 'part', needs: 'operator' },
  /** Read the status of its triggers, and what they sent to whom. */
  'part.triggers': { on: 'part', needs: 'operator' },
  /** Save the part's configuration, rename, delete, restart, make main, metadata, secrets. */
  'part.manage': { on: 'part', needs: 'owner' },
};
