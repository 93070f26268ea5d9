/** People: who they are, how they sign in, how they are invited (D30). */
import type { AppService } from '@platform/proto/platform/app/v1/app';
import type { Handlers } from '@platform/rpc/server';
import type { Principal } from '../access/principal.ts';
import type { Sessions } from './sessions.ts';

export interface Identity {
  readonly sessions: Sessions;
  /** Invitations, members and people, for AppService. */
  readonly appHandlers: Handlers<typeof AppService, Principal>;
  /**
   * A token for `/sign-in?token=` that signs in the first owner once, within a day; undefined once she has a way of her own
   * to sign in.
   */
  createOwnerLink(): Promise<string | undefined>;
}
