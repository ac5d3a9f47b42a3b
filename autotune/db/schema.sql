-- The tuning database, version 1 (pragma user_version). This file is its document.
--
-- One row is one measurement: a config of a kernel, for a problem, on a device, by a compiler. Keys are
-- printable text made by autotune/db/key.cpp. Nothing is ever updated in place but by measuring again.
create table measurement (
  kernel       text not null,  -- matmul@6f1c0a2b3c4d5e6f: name and content hash of the kernel's syntax tree
  problem      text not null,  -- f16,f16,f16;K=4096,M=4096,N=4096: argument dtypes; bucketed shape
  device       text not null,  -- cuda:sm_90:NVIDIA H200, cpu:znver4:16
  compiler     text not null,  -- tilewright-0.1.0 nvrtc-13.0, tilewright-0.1.0 llvm-19.1.7
  config       text not null,  -- BLOCK_K=32,BLOCK_M=64,BLOCK_N=64,GROUP_M=8;warps=4,stages=3
  outcome      text not null check (outcome in ('measured', 'rejected', 'wrong', 'failed')),
  reason       text not null default '',  -- why it is not 'measured', one line with the diagnostic's kind
  median_ns    real,           -- of the timed launches; null unless measured
  minimum_ns   real,
  samples      integer not null default 0,
  error        real,           -- largest relative error against the reference of the sweep
  registers    integer,        -- per thread, read from the cubin
  shared_bytes integer,
  spills       integer,
  created      integer not null,  -- unix seconds
  host         text not null,
  primary key (kernel, problem, device, compiler, config)
) without rowid;
