/** Sharing: what the API takes and tells (explorer/sharing/api.py). */

/** `from` and `to` are sequences; `key` is that of the preview that was shown. */
export interface Asked {
  view: 'reader' | 'investigator';
  hide_names: boolean;
  notes: boolean;
  key?: string;
  from?: number;
  to?: number;
}

export interface Preview {
  key: string;
  pseudonyms: { kind: string; here: string; there: string }[];
  more: number;
}

/** Times are ISO 8601. */
export interface ShareLink {
  id: string;
  /** What it shows: a timeline, a group of the laboratory, or a cell of a sweep; and which, in a few words. */
  kind: 'timeline' | 'laboratory' | 'cell';
  title: string;
  token_end: string;
  view: string;
  hides_names: boolean;
  who: 'anyone' | 'signed-in';
  first: number;
  last: number;
  embed_origins: string[];
  created: string;
  until: string;
  state: 'open' | 'ended' | 'withdrawn' | 'deleted';
  opened: number;
  last_opened: string | null;
  /** Empty where nobody has a name. */
  author: string;
  may_withdraw: boolean;
}

export interface Sharing {
  preview(asked: { from?: number; to?: number }): Promise<Preview>;
  file(asked: Asked & { format: 'html' | 'data'; at: number }): Promise<{ name: string; blob: Blob }>;
  make(
    asked: Asked & { days: number; who: string; embed_origins: string[] },
  ): Promise<ShareLink & { url: string; embed_url: string | null }>;
  links(): Promise<ShareLink[]>;
  withdraw(id: string): Promise<null>;
}
