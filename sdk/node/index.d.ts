/** Where and as whom a call is made. */
export interface CallOptions {
  /** The directory whose workspace and settings count; default: the process's own. */
  cwd?: string;
  agent?: string;
  stateDir?: string;
  /** The daemon's socket, where it is not in its usual place. */
  socket?: string;
  /** The `cordon` program; default: found by PATH. */
  binary?: string;
  /** false: do not use a daemon. */
  daemon?: boolean;
  /** Aborting ends the run. */
  signal?: AbortSignal;
}

export interface ExecuteOptions extends CallOptions {
  language: string;
  code: string;
  /** Milliseconds; default 30000. */
  timeout?: number;
  /** Bytes kept of each stream; default 1 MiB. */
  maxOutputSize?: number;
  args?: string[];
  stdin?: string | Uint8Array;
  /** Placed in the working directory of the code. */
  files?: Record<string, string | Uint8Array>;
  /** Variables live on under this name (JavaScript, TypeScript; Python with a daemon). */
  session?: string;
  /** JavaScript: the session begins where this one stands. */
  fork?: string;
  /** JavaScript: the session is taken back to this step first. */
  step?: number;
  /** Give it the workspace; it is then judged as a command is. */
  access?: 'none' | 'ro' | 'rw';
}

export interface Isolation {
  backend: string;
  level: string;
  missing: string[];
}

export interface Artifact {
  path: string;
  mime: string;
  bytes: number;
  base64?: string;
}

export interface ExecuteResult {
  success: boolean;
  output: string;
  stderr: string;
  exitCode: number;
  executionTime: number;
  error: string | null;
  isolation: Isolation | null;
  artifacts: Artifact[];
  session: { id: string; step: number; survived: boolean } | null;
  line?: number | null;
  killed_by?: string | null;
  truncated?: { stdout: boolean; stderr: boolean };
  queued?: boolean;
  queue_id?: string | null;
  blocked?: boolean;
}

export type RiskLevel = 'safe' | 'normal' | 'dangerous' | 'critical' | 'disallowed';

export interface CheckResult {
  command: string;
  risk_level: RiskLevel;
  risk_reasons: string[];
  requires_approval: boolean;
  suggested_action: 'execute' | 'queue_for_approval' | 'block';
  understood: boolean;
  rule: string;
  effects: { kind: string; target: string }[];
  safer: string[];
  allowlisted: string | null;
  decided_by: string;
}

export interface ExecOptions extends CallOptions {
  timeout?: number;
  dryRun?: boolean;
  requireApproval?: boolean;
  /** Milliseconds to wait for an approval. */
  wait?: number;
  approval?: string;
  env?: Record<string, string>;
  stdin?: string | Uint8Array;
}

export interface ExecResult {
  success: boolean;
  command: string;
  stdout: string;
  stderr: string;
  exit_code: number | null;
  duration_ms: number;
  executed: boolean;
  safety: CheckResult;
  queued: boolean;
  queue_id: string | null;
  blocked: boolean;
  error: string | null;
  isolation: Isolation | null;
  killed_by: string | null;
}

export type Entry = Record<string, unknown> & { id: string; command: string; status: string };

export class CordonError extends Error {
  code: string;
}

export function execute(options: ExecuteOptions): Promise<ExecuteResult>;
export function check(command: string, options?: CallOptions): Promise<CheckResult>;
export function exec(command: string, options?: ExecOptions): Promise<ExecResult>;

export const queue: {
  list(options?: CallOptions & { status?: string }): Promise<Entry[]>;
  show(id: string, options?: CallOptions): Promise<Entry>;
  approve(id: string, options?: CallOptions & { by?: string; notes?: string }): Promise<Entry>;
  reject(id: string, options: CallOptions & { reason: string; by?: string }): Promise<Entry>;
  wait(id: string, options?: CallOptions): Promise<Entry>;
};

export const audit: {
  log(options?: CallOptions & { last?: number; riskLevel?: RiskLevel; since?: string; commandPattern?: string }): Promise<{
    entries: Record<string, unknown>[];
  }>;
  stats(options?: CallOptions & { period?: '1d' | '7d' | '30d' | 'all' }): Promise<Record<string, unknown>>;
  verify(options?: CallOptions): Promise<{ good: boolean; signed: boolean; text: string }>;
};

declare const Sandbox: {
  execute: typeof execute;
  check: typeof check;
  exec: typeof exec;
  queue: typeof queue;
  audit: typeof audit;
  CordonError: typeof CordonError;
};
export default Sandbox;
